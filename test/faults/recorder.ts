import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, Answer, ApiRequest, TestObject } from '../support/api-client.ts';
import type { Operation, Outcome, State } from './linearizability.ts';

export const COLLECTION = '/api/v1/namespaces/default/configmaps';
/** What takes longer is not known to have happened. */
const ANSWER_WITHIN_MS = 3_000;
/** After a connection was refused, so that clients do not run round in circles while the server starts. */
const PAUSE_MS = 10;

/** What a client knows of an object: its version, and the id that was written with it. */
interface Known {
  id: string;
  version: string;
}

/** An answered write, as watchers must see it. */
export interface Acknowledged {
  key: string;
  id: State;
  version: number;
}

/** Records what clients do to objects, key by key, and what they are answered. */
export class Recorder {
  readonly histories = new Map<string, Operation[]>();
  readonly acknowledged: Acknowledged[] = [];
  readonly #prefix: string;
  #written = 0;

  /** `prefix`: of the ids that are written. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  add(key: string, operation: Operation): void {
    const history = this.histories.get(key);
    if (history) history.push(operation);
    else this.histories.set(key, [operation]);
  }

  /** A value that nobody else writes. */
  nextId(): string {
    return `${this.#prefix}${++this.#written}`;
  }
}

/** One client that reads, creates, changes and deletes objects, each change on condition of what it has last seen. */
export class FaultClient {
  readonly #api: ApiClient;
  readonly #recorder: Recorder;
  readonly #known = new Map<string, Known | undefined>();
  readonly #random: () => number;

  constructor(api: ApiClient, recorder: Recorder, random: () => number) {
    this.#api = api;
    this.#recorder = recorder;
    this.#random = random;
  }

  async runUntil(isOver: () => boolean, keys: readonly string[]): Promise<void> {
    while (!isOver()) {
      const key = keys[Math.floor(this.#random() * keys.length)]!;
      const isAnswered = await this.#act(key);
      if (!isAnswered) await delay(PAUSE_MS);
    }
  }

  /** Reads until there is an answer. */
  async settle(key: string): Promise<void> {
    while (!(await this.#read(key))) await delay(PAUSE_MS);
  }

  async #act(key: string): Promise<boolean> {
    if (!this.#known.has(key) || this.#random() < 0.3) return this.#read(key);
    const known = this.#known.get(key);
    if (known === undefined) return this.#write(key, undefined);
    return this.#random() < 0.15 ? this.#delete(key, known) : this.#write(key, known);
  }

  async #read(key: string): Promise<boolean> {
    const calledAt = performance.now();
    const answer = await this.#send({ path: `${COLLECTION}/${key}` });
    if (answer?.status !== 200 && answer?.status !== 404) return false;
    const known = answer.status === 200 ? knownOf(answer.json()) : undefined;
    this.#known.set(key, known);
    this.#recorder.add(key, { kind: 'read', expected: undefined, value: known?.id, outcome: 'done', calledAt, answeredAt: performance.now() });
    return true;
  }

  async #write(key: string, known: Known | undefined): Promise<boolean> {
    const id = this.#recorder.nextId();
    const body = {
      metadata: { name: key, ...(known && { resourceVersion: known.version }) },
      data: { id, copy: id, filling: 'f'.repeat(Math.floor(this.#random() * 3_000)) },
    };
    const request = known ? { method: 'PUT', path: `${COLLECTION}/${key}`, body } : { method: 'POST', path: COLLECTION, body };
    const answer = await this.#record(key, { kind: 'write', expected: known?.id, value: id }, request);
    if (answer?.status !== 200 && answer?.status !== 201) return answer !== undefined;
    const written = knownOf(answer.json());
    this.#known.set(key, written);
    this.#recorder.acknowledged.push({ key, id, version: Number(written.version) });
    return true;
  }

  async #delete(key: string, known: Known): Promise<boolean> {
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { resourceVersion: known.version } };
    const answer = await this.#record(key, { kind: 'delete', expected: known.id, value: undefined }, { method: 'DELETE', path: `${COLLECTION}/${key}`, body });
    if (answer?.status === 200) this.#known.set(key, undefined);
    return answer !== undefined;
  }

  async #record(key: string, operation: Pick<Operation, 'kind' | 'expected' | 'value'>, request: ApiRequest): Promise<Answer | undefined> {
    const calledAt = performance.now();
    const answer = await this.#send(request);
    const outcome = outcomeOf(answer);
    // What the client believed of the key is in doubt, or wrong.
    if (outcome !== 'done') this.#known.delete(key);
    if (answer === undefined || outcome === 'unknown') this.#recorder.add(key, { ...operation, outcome: 'unknown', calledAt, answeredAt: Infinity });
    else this.#recorder.add(key, { ...operation, outcome, calledAt, answeredAt: performance.now() });
    return answer;
  }

  async #send(request: ApiRequest): Promise<Answer | undefined> {
    return Promise.race([this.#api.send(request).catch(() => undefined), delay(ANSWER_WITHIN_MS, undefined, { ref: false })]);
  }
}

/** Whatever is neither a success nor a conflict with what is stored may have happened. */
function outcomeOf(answer: Answer | undefined): Outcome {
  if (answer?.status === 200 || answer?.status === 201) return 'done';
  return answer?.status === 404 || answer?.status === 409 ? 'refused' : 'unknown';
}

/** Throws where half of a write is there. */
export function knownOf({ data, metadata }: TestObject): Known {
  if (data === undefined || data['id'] !== data['copy'] || data['filling'] === undefined) throw new Error(`${metadata.name} was written in parts`);
  return { id: data['id']!, version: metadata.resourceVersion };
}
