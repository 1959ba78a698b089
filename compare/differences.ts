import { isJsonObject, stringifyJson } from '../src/encoding/json.ts';
import type { Json } from '../src/encoding/json-types.ts';
import type { Answer } from './answer.ts';

/** One place at which two answers differ. */
export interface Difference {
  /** `status`, `headers.warning`, `body.spec.ports[0].nodePort` */
  at: string;
  /** As JSON; `nothing` where there is nothing. */
  reference: string;
  server: string;
}

const MAX_DIFFERENCES = 12;
const NOTHING = 'nothing';

/** Where the answers differ, from the top; at most a dozen places. The order of an object's keys is none of them: it says nothing to a client. */
export function differencesOf(reference: Answer, server: Answer): Difference[] {
  const found: Difference[] = [];
  compare(reference.status, server.status, 'status', found);
  compare(reference.headers, server.headers, 'headers', found);
  compare(reference.body, server.body, 'body', found);
  compare(reference.reviews ?? null, server.reviews ?? null, 'reviews', found);
  return found;
}

/** Ages in table cells are counted from a moment that may lie a second apart. */
const isAge = (value: Json): boolean => typeof value === 'string' && (value === '«age»' || /^(\d+[ydhms])+$/.test(value));

function compare(reference: Json, server: Json, at: string, found: Difference[]): void {
  if (found.length >= MAX_DIFFERENCES || Object.is(reference, server)) return;
  if (Array.isArray(reference) && Array.isArray(server)) compareLists(reference, server, at, found);
  else if (isJsonObject(reference) && isJsonObject(server)) compareObjects(reference, server, at, found);
  else if (!(at.includes('.cells[') && isAge(reference) && isAge(server)))
    found.push({ at, reference: stringifyJson(reference), server: stringifyJson(server) });
}

function compareLists(reference: Json[], server: Json[], at: string, found: Difference[]): void {
  if (reference.length !== server.length) found.push({ at: `${at}.length`, reference: String(reference.length), server: String(server.length) });
  for (let index = 0; index < Math.max(reference.length, server.length); index++) {
    const [one, other] = [reference[index], server[index]];
    if (one === undefined || other === undefined) found.push({ at: `${at}[${index}]`, reference: text(one), server: text(other) });
    else compare(one, other, `${at}[${index}]`, found);
    if (found.length >= MAX_DIFFERENCES) return;
  }
}

function compareObjects(reference: Record<string, Json | undefined>, server: Record<string, Json | undefined>, at: string, found: Difference[]): void {
  for (const key of new Set([...Object.keys(reference), ...Object.keys(server)])) {
    const place = /^[\w-]+$/.test(key) ? `${at}.${key}` : `${at}[${JSON.stringify(key)}]`;
    const [one, other] = [own(reference, key), own(server, key)];
    if (one === undefined || other === undefined) found.push({ at: place, reference: text(one), server: text(other) });
    else compare(one, other, place, found);
    if (found.length >= MAX_DIFFERENCES) return;
  }
}

const own = (object: Record<string, Json | undefined>, key: string): Json | undefined => (Object.hasOwn(object, key) ? object[key] : undefined);
const text = (value: Json | undefined): string => (value === undefined ? NOTHING : stringifyJson(value));
