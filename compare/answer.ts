import type { IncomingHttpHeaders } from 'node:http';
import { parse as parseYaml } from 'yaml';
import type { Symbols } from '../test/oracle/symbols.mjs';
import { isJsonObject, parseJson, stringifyJson } from '../src/encoding/json.ts';
import type { Json, JsonObject } from '../src/encoding/json-types.ts';
import { decodeProtobufBody, decodeWatchFrames } from './protobuf.ts';
import { SCENARIO } from './placeholders.ts';
import type { RawAnswer } from './server.ts';
import type { Request } from './step.ts';

/* An answer as it is compared: parsed, whatever form it came in, with symbols for what each server chose. */

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Json;
  /** What the server sent to admission webhooks on the way. */
  reviews?: Json;
}

const BRACE = 0x7b;

/** Headers that say something to a client. Others are about the connection, or new with every request. */
const HEADERS = [
  'content-type',
  'warning',
  'cache-control',
  'allow',
  'location',
  'retry-after',
  'vary',
  'www-authenticate',
  'x-content-type-options',
  'content-encoding',
];

/** The answer as it is compared, and its object as it came. */
export function normaliseAnswer(
  request: Request,
  answer: RawAnswer,
  symbols: Symbols,
  sent: Buffer | undefined,
): { normalised: Answer; object: Json | undefined } {
  // The list of OpenAPI documents is JSON, whatever it is called.
  const isDocument = request.path.startsWith('/openapi/v3') && answer.body[0] === BRACE;
  const object = readBody(isDocument ? 'application/json' : (answer.headers['content-type'] ?? ''), answer.body);
  const body = abstractBody(symbols, withoutDefinitionVersion(withoutOthers(request.path, object)), readSent(sent));
  return { normalised: { status: answer.status, headers: headersOf(answer.headers), body: withoutRandom(request, body) }, object };
}

/** Definitions are also written by the servers' own controllers, each at its time. */
function withoutDefinitionVersion(body: Json): Json {
  if (!isJsonObject(body) || body['kind'] !== 'CustomResourceDefinition' || !isJsonObject(body['metadata'])) return body;
  return { ...body, metadata: { ...body['metadata'], resourceVersion: 'any' } };
}

/** A list whose items or rows are null is a list too: its version is the store's. */
function abstractBody(symbols: Symbols, body: Json, sent: unknown): Json {
  const key = isJsonObject(body) && ['items', 'rows'].find((name) => body[name] === null);
  if (!isJsonObject(body) || !key || !/List$|^Table$/.test(String(body['kind']))) return symbols.abstract(body, sent) as Json;
  return { ...(symbols.abstract({ ...body, [key]: [] }, sent) as JsonObject), [key]: null };
}

/** The events of a watch, those of each object in their order: between objects there is none where several requests were served at once. */
export function normaliseEvents(request: Request, answer: RawAnswer, symbols: Symbols): Answer {
  const type = answer.headers['content-type'] ?? '';
  const events = answer.status === 200 ? readEvents(type, answer.body) : [readBody(type, answer.body)];
  const byName = events
    .map((event) => ({ event, name: nameOfEvent(event) }))
    .sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
  const body = symbols.abstract(byName.map(({ event }) => withoutErrorVersions(withoutBookmarkVersion(event)))) as Json;
  return { status: answer.status, headers: headersOf(answer.headers), body: withoutRandom(request, body) };
}

/** In a bookmark's row, too, stands the version of the store. */
function withoutBookmarkVersion(event: Json): Json {
  if (!isJsonObject(event) || event['type'] !== 'BOOKMARK' || !isJsonObject(event['object']) || !Array.isArray(event['object']['rows'])) return event;
  const text = stringifyJson(event['object']['rows']).replaceAll(/"resourceVersion":"\d+"/g, '"resourceVersion":"bookmark"');
  return { ...event, object: { ...event['object'], rows: parseJson(text) } };
}

/** An error of a watch names the version that was asked for and the oldest that there is. */
function withoutErrorVersions(event: Json): Json {
  if (!isJsonObject(event) || event['type'] !== 'ERROR' || !isJsonObject(event['object'])) return event;
  const message = String(event['object']['message']).replace(/^(too old resource version: )\d+ \(\d+\)$/, '$1«rv» («rv»)');
  return { ...event, object: { ...event['object'], message } };
}

export function readEvents(type: string, body: Buffer): Json[] {
  if (type.includes('protobuf')) return decodeWatchFrames(body);
  const lines = body.toString('utf8').split('\n');
  // The last one is empty, or not here yet.
  return lines.slice(0, -1).map((line) => tryParse(line));
}

function nameOfEvent(event: Json): string {
  const object = isJsonObject(event) ? event['object'] : undefined;
  const metadata = isJsonObject(object) ? object['metadata'] : undefined;
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

function headersOf(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])));
}

function readBody(type: string, body: Buffer): Json {
  if (type.includes('protobuf')) return decodeProtobufBody(body);
  const text = body.toString('utf8');
  if (type.includes('json')) return tryParse(text);
  if (!type.includes('yaml')) return text;
  try {
    return parseYaml(text) as Json;
  } catch {
    return text;
  }
}

function tryParse(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** What the caller chose itself gets no symbol. */
function readSent(body: Buffer | undefined): unknown {
  try {
    return body && JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Discovery's lists name the groups of all scenarios that are under way. */
function withoutOthers(path: string, body: Json): Json {
  if (!/^\/(apis|openapi\/v3)\/?(\?|$)/.test(path) || !isJsonObject(body)) return body;
  const isOthers = (text: string): boolean => /n[0-9a-f]{8}\.example/.test(text);
  const kept = (list: Json): Json => (Array.isArray(list) ? list.filter((item) => !isOthers(stringifyJson(item))) : list);
  const { groups, items, paths } = body as { groups?: Json; items?: Json; paths?: JsonObject };
  if (groups !== undefined) return { ...body, groups: kept(groups) };
  if (items !== undefined) return { ...body, items: kept(items) };
  if (paths !== undefined)
    return { ...body, paths: Object.fromEntries(Object.entries(paths).flatMap(([key, value]) => (isOthers(key) ? [] : [[key, dropHash(value)]]))) };
  return body;
}

/** Addresses of OpenAPI documents have a hash of their content, which has the documents' texts in it. */
const dropHash = (value: Json | undefined): Json =>
  isJsonObject(value) ? { serverRelativeURL: String(value['serverRelativeURL']).replace(/hash=.*/, 'hash') } : (value ?? null);

/** The five characters that stand behind a generateName (apimachinery's SafeEncodeString). */
const SUFFIX = '[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])';
const GENERATED = new RegExp(`((?:${SCENARIO}(?:-[a-z])?|kube-api-access)-)${SUFFIX}`, 'g');

/** The same behind those that a broken text has, which may be any. */
function withoutGenerated(text: string, sent: Json | undefined): string {
  let plain = text.replaceAll(GENERATED, '$1«name»');
  if (typeof sent !== 'string') return plain;
  for (const [, prefix] of sent.matchAll(/"generateName":\s*"([^"\\]+)"/g)) {
    const written = stringifyJson(prefix!).slice(1, -1);
    plain = plain.replaceAll(new RegExp(`(${written.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)})${SUFFIX}`, 'g'), '$1«name»');
  }
  return plain;
}

const UID = /(?!11111111|00000000)[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;

const NAMED_BY_UID = /\/(limitranges|resourcequotas)(\/|\?|$)/;

/** Audit ids in messages, names that were generated for an object that was refused, and tokens. */
function withoutRandom(request: Request, body: Json): Json {
  // Limit ranges and quotas that are sent without a name get a uid for one, which also stands in lists, tables and events.
  if (NAMED_BY_UID.test(request.path)) return withoutRandomIn(request, parseJson(stringifyJson(body).replaceAll(UID, '«uid»')));
  return withoutRandomIn(request, body);
}

function withoutRandomIn(request: Request, body: Json): Json {
  if (!isJsonObject(body)) return body;
  if (body['kind'] === 'Status') {
    // Where they are not known from an answer, uids are audit ids, or names of what was sent without one (limit ranges, quotas).
    const text = withoutGenerated(stringifyJson(body), request.body).replaceAll(UID, '«uid»');
    // Declared types have numbers of their own in the reference.
    const plain = text
      .replaceAll(/(ResourceVersion in (?:object meta: |precondition: |the precondition \())\d+/g, '$1«rv»')
      .replace(/(dial tcp )127\.0\.0\.1:\d+->/, '$1');
    const unaddressed = plain.replaceAll(/(IPAddress\.networking\.k8s\.io \\"(?:\\\\)*)[\d.]+/g, '$1«address»');
    // An object that is shown whole has the addresses and ports that were chosen for it.
    const unallocated = unaddressed.replaceAll(/\b10\.0\.\d+\.\d+/g, '«address»').replaceAll(/(nodePort[\\"]*:)3\d{4}\b/gi, '$1«port»');
    return parseJson(unallocated.replaceAll(/\bselfType\d+/g, 'selfType'));
  }
  if (body['kind'] === 'SelfSubjectRulesReview') return withSortedRules(body);
  if (!/\/token(\?|$)/.test(request.path) || !isJsonObject(body['status'])) return body;
  return { ...body, status: { ...body['status'], token: '«token»' } };
}

/** Rules come in the order in which the reference's map of bindings is walked. */
function withSortedRules(review: JsonObject): Json {
  const status = Object.entries(review['status'] as JsonObject).map(([key, value]) => [key, Array.isArray(value) ? inOrder(value) : value]);
  return { ...review, status: Object.fromEntries(status) as JsonObject };
}

const inOrder = (rules: readonly Json[]): Json[] =>
  rules
    .map((rule) => stringifyJson(rule))
    .sort()
    .map((text) => parseJson(text));
