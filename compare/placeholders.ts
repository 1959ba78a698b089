import type { JsonObject } from '../src/encoding/json-types.ts';

/*
 * Requests are the same for both servers but for what each server chose itself. Such values are written as placeholders: «uid:PATH» and «rv:PATH» are the
 * uid and the version of the object that was last seen at PATH, «continue:PATH» is the token that the last list of PATH ended with.
 */

/** The name that every scenario is written with. Each run of it has one of its own, of the same length, so that runs do not meet and nothing changes in size. */
export const SCENARIO = 'n00000000';

const PLACEHOLDER = /«(uid|rv|continue):([^»]*)»/g;
/** What stands for a value that the server has not given: an earlier request failed, or was cut out. */
const UNKNOWN = { uid: '00000000-0000-4000-8000-000000000000', rv: '0', continue: 'unknown' };

interface KnownObject {
  metadata?: { uid?: unknown; resourceVersion?: unknown; continue?: unknown };
}

/** Texts with the values of one server in place of the placeholders. */
export function fillIn(text: string, known: ReadonlyMap<string, JsonObject>): string {
  return text.replace(PLACEHOLDER, (_, kind: keyof typeof UNKNOWN, path: string) => {
    const { metadata } = (known.get(path) ?? {}) as KnownObject;
    const value = kind === 'uid' ? metadata?.uid : kind === 'rv' ? metadata?.resourceVersion : metadata?.continue;
    const found = typeof value === 'string' && value !== '' ? value : UNKNOWN[kind];
    return kind === 'continue' ? encodeURIComponent(found) : found;
  });
}

/** `n` and eight hex digits that no other run of this process or of one before it has. */
export class ScenarioNames {
  #next: number;

  constructor(start = Date.now()) {
    // A run names less than a hundred scenarios a second, so that the next run begins beyond them.
    this.#next = Math.floor(start / 10) % 2 ** 32;
  }

  next(): string {
    this.#next = (this.#next + 1) % 2 ** 32;
    return `n${this.#next.toString(16).padStart(8, '0')}`;
  }
}
