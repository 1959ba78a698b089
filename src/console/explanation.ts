import { isApiError } from '../api/errors.ts';
import { parseJson, stringifyJson } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { cutText } from './cut-text.ts';
import { changedFields } from '../history/change-fields.ts';
import { pathText } from '../history/object-delta.ts';
import type { AskedPlugin, StepObserver } from '../registry/step-observer.ts';

export type StepName = 'authentication' | 'authorization' | 'decoding' | 'admission' | 'validation' | 'storage';
export type StepResult = 'allowed' | 'denied' | 'changed' | 'passed' | 'skipped' | 'failed';

export interface ExplainedStep {
  name: StepName;
  plugin?: string;
  result: StepResult;
  message?: string;
  details?: object;
  changes?: FieldChange[];
  durationMs: number;
}

interface FieldChange {
  path: string;
  from?: Json;
  to?: Json;
}

/** Deleting a collection asks admission for each object. */
const MAX_STEPS = 500;
const MAX_CHANGES = 200;
const MAX_MESSAGE_CHARACTERS = 4_096;
/** A longer object is not compared: that takes milliseconds for every plug-in. */
const MAX_COMPARED_CHARACTERS = 512 * 1024;
const MAX_VALUE_CHARACTERS = 4_096;
/** Of all changes together. */
const MAX_CHANGES_CHARACTERS = 1024 * 1024;

/** Collects what each step of a rehearsed request says. */
export class Explanation implements StepObserver {
  readonly steps: ExplainedStep[] = [];
  readonly #beganMs = performance.now();
  readonly #writes: boolean;
  #lastMs = this.#beganMs;
  /** Which steps of admission have begun. */
  readonly #entered = new Set<AskedPlugin['step']>();
  /** The plug-ins that mutate which have been asked. */
  readonly #asked = new Set<string>();
  /** The object as the last step left it, so that each is printed once. */
  #text: string | undefined;
  #changesCharacters = 0;

  /** `writes`: whether the request has an object that is validated. */
  constructor(writes: boolean) {
    this.#writes = writes;
  }

  add(step: Omit<ExplainedStep, 'durationMs'>, durationMs = performance.now() - this.#lastMs): void {
    this.#lastMs = performance.now();
    if (this.steps.length >= MAX_STEPS) return;
    this.steps.push({
      ...step,
      ...(step.message !== undefined && { message: cutText(step.message, MAX_MESSAGE_CHARACTERS) }),
      durationMs: rounded(durationMs),
    });
  }

  enters(step: AskedPlugin['step']): void {
    // Of a collection that is deleted, each object comes here.
    this.#text = undefined;
    if (this.#entered.has(step)) return;
    this.#entered.add(step);
    if (this.#writes) this.add({ name: step === 'mutate' ? 'decoding' : 'validation', result: 'passed' });
  }

  asks(who: AskedPlugin, read?: () => object | undefined): (error?: unknown) => void {
    const beganMs = performance.now();
    const stepsBefore = this.steps.length;
    const comparesTexts = who.step === 'mutate' && read !== undefined;
    // Of a webhook, the object is the one that it sees, in its version.
    const before = comparesTexts ? (who.hook ? textOf(read()) : (this.#text ?? textOf(read()))) : undefined;
    return (error) => {
      const after = comparesTexts ? textOf(read()) : undefined;
      if (!who.hook) this.#text = after;
      // Those whom the plug-in has asked have said all.
      const areHooksTold = !who.hook && this.steps.slice(stepsBefore).some(({ plugin }) => plugin === who.plugin);
      if (areHooksTold) this.#asked.add(who.plugin);
      else this.#tell(who, error, before === after ? [] : changesOf(before, after), performance.now() - beganMs);
    };
  }

  told(who: AskedPlugin, { message, before, after }: Parameters<StepObserver['told']>[1]): void {
    const changes = after === undefined ? [] : changesOf(textOf(before), textOf(after));
    if (message === undefined) return this.#tell(who, undefined, changes, 0);
    this.add({ ...stepOf(who), result: 'denied', message }, 0);
  }

  #tell(who: AskedPlugin, error: unknown, changes: FieldChange[] | undefined, durationMs: number): void {
    if (changes?.length !== 0) this.#asked.add(who.plugin);
    if (error !== undefined) return this.add({ ...stepOf(who), result: isDenial(error) ? 'denied' : 'failed', message: messageOf(error) }, durationMs);
    if (changes?.length === 0) return this.#tellUnchanged(who, durationMs);
    this.#changesCharacters += changes === undefined ? 0 : stringifyJson(changes as unknown as Json).length;
    const isListed = changes !== undefined && this.#changesCharacters <= MAX_CHANGES_CHARACTERS;
    this.add({ ...stepOf(who), result: 'changed', ...(isListed ? { changes } : { message: 'the changes are too large to be listed' }) }, durationMs);
  }

  /** Where one has changed the object, all who mutate are asked a second time, and most have nothing to say then. */
  #tellUnchanged(who: AskedPlugin, durationMs: number): void {
    const isMutating = who.step === 'mutate';
    if (isMutating && !who.hook && this.#asked.has(who.plugin)) return;
    if (isMutating) this.#asked.add(who.plugin);
    this.add({ ...stepOf(who), result: isMutating ? 'passed' : 'allowed' }, durationMs);
  }

  /** What stands for the rest of the request: where it went wrong, if none of the steps has said so. */
  finish(code: number, message: string | undefined): void {
    if (code === 0) return;
    if (code < 400) return this.add({ name: 'storage', result: 'passed', ...(this.#writes && { message: 'a dry run: nothing is stored' }) });
    const isExplained = this.steps.some(({ result }) => result === 'denied') || this.steps.at(-1)?.result === 'failed';
    if (!isExplained) this.add({ name: this.#failedStep(code), result: 'failed', ...(message !== undefined && { message }) });
  }

  /** By how far it has come, and by the code: what cannot be read, or is not valid, is told so. */
  #failedStep(code: number): StepName {
    if (!SENT_WRONG.has(code) || this.#entered.has('validate')) return 'storage';
    return this.#entered.has('mutate') ? 'validation' : 'decoding';
  }
}

/** Bad request, too large, not a type that is read, not valid; and what upstream refuses as forbidden in the rules of a kind. */
const SENT_WRONG = new Set([400, 403, 406, 413, 415, 422]);

const stepOf = ({ plugin, hook }: AskedPlugin): Pick<ExplainedStep, 'name' | 'plugin' | 'details'> => ({
  name: 'admission',
  plugin,
  ...(hook && { details: hook.type === 'webhook' ? { webhook: hook.name, configuration: hook.from } : { policy: hook.name, binding: hook.from } }),
});

const isDenial = (error: unknown): boolean => isApiError(error) && error.code < 500;
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const textOf = (object: object | undefined): string | undefined => object && stringifyJson(object as JsonObject);

/** Undefined where they are too large. */
function changesOf(before: string | undefined, after: string | undefined): FieldChange[] | undefined {
  if ((before?.length ?? 0) > MAX_COMPARED_CHARACTERS || (after?.length ?? 0) > MAX_COMPARED_CHARACTERS) return undefined;
  const [from, to] = [before, after].map((text) => (text === undefined ? undefined : (parseJson(Buffer.from(text)) as JsonObject)));
  return changedFields(from, to)
    .slice(0, MAX_CHANGES)
    .map((change) => ({
      path: pathText(change.path),
      ...(change.from !== undefined && { from: bounded(change.from) }),
      ...(change.to !== undefined && { to: bounded(change.to) }),
    }));
}

function bounded(value: Json): Json {
  const text = stringifyJson(value);
  return text.length <= MAX_VALUE_CHARACTERS ? value : cutText(text, MAX_VALUE_CHARACTERS);
}

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;
