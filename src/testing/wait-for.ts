import { setTimeout as delay } from 'node:timers/promises';
import type { WatchEvent } from './api-client.ts';
import { isNotFound, type ObjectClient } from './object-client.ts';
import type { Draft, KubernetesObject, ObjectReference } from './objects.ts';
import type { WaitOptions } from './server-interface.ts';

/** What an object must come to: fields that it has to have, or a function that says so. The function is given undefined where there is no such object. */
export type Condition = Draft<KubernetesObject> | ((object: KubernetesObject | undefined) => unknown);

const DEFAULT_TIMEOUT_MS = 10_000;
/** How long until one looks again whether a kind is served. */
const RETRY_MS = 20;

interface Look {
  isMet: boolean;
  /** What was found wanting. */
  reasons: string[];
}

/**
 * Watches one object until it meets the condition, and answers with it. A function that throws has not been met: assertions can be used. The error after the
 * timeout shows the last state.
 */
export async function waitFor(
  objects: ObjectClient,
  reference: ObjectReference,
  condition: Condition,
  { timeout = DEFAULT_TIMEOUT_MS }: WaitOptions = {},
): Promise<KubernetesObject | undefined> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeout);
  let last: KubernetesObject | undefined;
  let reasons: string[] = [];
  try {
    for await (const object of states(objects, reference, stop.signal)) {
      last = object;
      const look = await meets(object, condition);
      if (look.isMet) return object;
      ({ reasons } = look);
    }
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
  throw new Error(failure(reference, timeout, last, reasons));
}

async function meets(object: KubernetesObject | undefined, condition: Condition): Promise<Look> {
  if (typeof condition !== 'function') {
    const reasons = object === undefined ? ['there is no such object'] : differences(condition, object);
    return { isMet: reasons.length === 0, reasons };
  }
  try {
    const result: unknown = await condition(object);
    // An assertion library's function returns nothing when it is content.
    return { isMet: result === undefined || Boolean(result), reasons: [`the condition returned ${stringify(result)}`] };
  } catch (error) {
    return { isMet: false, reasons: [(error as Error).message] };
  }
}

/** The object as it is and as it becomes, until the signal is aborted. */
async function* states(objects: ObjectClient, reference: ObjectReference, signal: AbortSignal): AsyncGenerator<KubernetesObject | undefined> {
  while (!signal.aborted) {
    try {
      yield* oneWatch(objects, reference, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!isNotFound(error)) throw error;
      yield undefined;
      await delay(RETRY_MS);
    }
  }
}

async function* oneWatch({ client, paths }: ObjectClient, reference: ObjectReference, signal: AbortSignal): AsyncGenerator<KubernetesObject | undefined> {
  const collection = await paths.collectionOfOne(reference, reference.namespace);
  const selected = `${collection}?fieldSelector=${encodeURIComponent(`metadata.name=${reference.name}`)}`;
  const list = await client.request<{ items: KubernetesObject[]; metadata: { resourceVersion: string } }>('GET', selected, { signal });
  const [found] = list.items;
  yield found && { apiVersion: reference.apiVersion, kind: reference.kind, ...found };
  for await (const { type, object } of client.watch(`${selected}&watch=true&resourceVersion=${list.metadata.resourceVersion}`, signal)) {
    if (type === 'ERROR') return;
    yield stateAfter(type, object);
  }
}

const stateAfter = (type: WatchEvent['type'], object: KubernetesObject): KubernetesObject | undefined => (type === 'DELETED' ? undefined : object);

function failure({ apiVersion, kind, name, namespace }: ObjectReference, timeoutMs: number, last: KubernetesObject | undefined, reasons: string[]): string {
  const what = `${apiVersion} ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  const wanting = reasons.map((reason) => `\n  ${reason}`).join('');
  const state = last === undefined ? 'there is no such object' : `\n${stringify(withoutManagedFields(last))}`;
  return `waited ${timeoutMs} ms for ${what}, in vain:${wanting}\nlast state: ${state}`;
}

function withoutManagedFields({ metadata, ...object }: KubernetesObject): KubernetesObject {
  const { managedFields: _, ...shown } = metadata ?? {};
  return { ...object, metadata: shown };
}

const stringify = (value: unknown): string => JSON.stringify(value, undefined, 2) ?? String(value);

/**
 * Where an object does not have what is expected of it, a line for each field. Objects may have more fields than expected; a list must have as many items.
 */
function differences(expected: unknown, found: unknown, path = ''): string[] {
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, found) ? [] : [line(path, expected, found)];
  if (typeof found !== 'object' || found === null || Array.isArray(expected) !== Array.isArray(found)) return [line(path, expected, found)];
  if (Array.isArray(expected) && expected.length !== (found as unknown[]).length) return [line(path, expected, found)];
  const prefix = path === '' ? '' : `${path}.`;
  return Object.entries(expected).flatMap(([key, value]) => differences(value, (found as Record<string, unknown>)[key], prefix + key));
}

const line = (path: string, expected: unknown, found: unknown): string =>
  `${path === '' ? 'the object' : path}: expected ${JSON.stringify(expected)}, found ${found === undefined ? 'nothing' : JSON.stringify(found)}`;
