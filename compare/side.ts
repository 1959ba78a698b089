import { stringify as toYaml } from 'yaml';
import { Symbols } from '../test/oracle/symbols.mjs';
import { schemaOfKind } from '../src/apis/facts/schemas.ts';
import { decode } from '../src/schema/decode.ts';
import { encodeProtobufObject } from '../src/schema/protobuf.ts';
import { parseApiVersion } from '../src/api/api-object.ts';
import { isJsonObject, parseJson, stringifyJson } from '../src/encoding/json.ts';
import type { Json, JsonObject } from '../src/encoding/json-types.ts';
import { type Answer, normaliseAnswer, normaliseEvents, readEvents } from './answer.ts';
import { applyEdits } from './edits.ts';
import { SCENARIO, fillIn } from './placeholders.ts';
import { FORM } from './protobuf.ts';
import type { RawRequest, RawStream, Server } from './server.ts';
import type { Form, Request, Step } from './step.ts';

const MEDIA_TYPES: Record<Form, string> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
  raw: 'application/json',
};

/** As answers are compared with it: of the same length, so that protobuf stays readable. */
const NORMAL_HOOK_URL = 'https://127.0.0.1:00000';
const NORMAL_HOST = '127.0.0.1:00001';

/** One server in one run of a scenario: what it has said of each object, and the symbols for what it chose. */
export class Side {
  readonly server: Server;
  readonly #name: string;
  readonly #hookUrl: string;
  /** By path without query: objects as they last were, and lists as they last came. */
  readonly #known = new Map<string, JsonObject>();
  readonly #symbols = new Symbols();
  /** Paths of what was created, in order. */
  readonly created = new Set<string>();

  /** `hookUrl`: where this server's webhooks are; configurations name it as `https://hooks`. */
  constructor(server: Server, scenarioName: string, hookUrl: string) {
    this.server = server;
    this.#name = scenarioName;
    this.#hookUrl = hookUrl;
  }

  async perform(step: Step): Promise<Answer> {
    const raw = this.#concrete(step.request);
    const answer = await this.server.send(raw);
    const text = Buffer.from(this.#abstractText(answer.body.toString('latin1')), 'latin1');
    const { normalised, object } = normaliseAnswer(step.request, { ...answer, body: text }, this.#symbols, raw.body);
    for (const [name, value] of Object.entries(normalised.headers)) normalised.headers[name] = this.#abstractText(value);
    this.#learn(step.request, answer.status, object);
    return normalised;
  }

  openWatch(step: Step): Promise<RawStream> {
    return this.server.open(this.#concrete(step.request));
  }

  /** What came of a watch so far, as it is compared. */
  events(step: Step, { status, headers, chunks }: RawStream): Answer {
    const body = Buffer.from(this.#abstractText(Buffer.concat(chunks).toString('latin1')), 'latin1');
    return normaliseEvents(step.request, { status, headers, body }, this.#symbols);
  }

  countEvents({ headers, chunks }: RawStream): number {
    return readEvents(headers['content-type'] ?? '', Buffer.concat(chunks)).length;
  }

  /** What a webhook was sent by this server, as it is compared. */
  review(review: Json): Json {
    const text = this.#abstractText(stringifyJson(review));
    return this.#symbols.abstract(parseJson(text)) as Json;
  }

  /** Sends what is not compared: waiting, preparing, clearing away. */
  async ask(request: Request): Promise<number> {
    return (await this.server.send(this.#concrete(request))).status;
  }

  #concrete(request: Request): RawRequest {
    const { method, path, user = 'admin', headers = {}, form = 'json' } = request;
    const body = this.#bodyOf(request);
    const concreteHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, this.#concreteText(value)]));
    return {
      method,
      path: this.#concreteText(path),
      user,
      headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': MEDIA_TYPES[form] }), ...concreteHeaders },
      body,
    };
  }

  #bodyOf({ body, update, form = 'json' }: Request): Buffer | undefined {
    if (form === 'raw') return typeof body === 'string' ? Buffer.from(this.#concreteText(body)) : undefined;
    const base = update && this.#known.get(update.of);
    const edited = base ? applyEdits(base, update!.edits) : body;
    if (edited === undefined) return undefined;
    const value = parseJson(this.#concreteText(stringifyJson(edited)));
    if (form === 'protobuf') return protobufOf(value) ?? Buffer.from(stringifyJson(value));
    return Buffer.from(form === 'yaml' ? toYaml(value) : stringifyJson(value));
  }

  #concreteText(text: string): string {
    return fillIn(text, this.#known).replaceAll(SCENARIO, this.#name).replaceAll('https://hooks', this.#hookUrl).replaceAll(NORMAL_HOOK_URL, this.#hookUrl);
  }

  #abstractText(text: string): string {
    return text.replaceAll(this.#name, SCENARIO).replaceAll(this.#hookUrl, NORMAL_HOOK_URL).replaceAll(this.server.host, NORMAL_HOST);
  }

  #learn({ method, path }: Request, status: number, answer: Json | undefined): void {
    const place = path.split('?', 1)[0]!;
    if (method === 'DELETE' || status < 200 || status > 299 || /[?&]dryRun=/.test(path) || !isJsonObject(answer)) return;
    if (Array.isArray(answer['items'])) this.#known.set(place, { metadata: answer['metadata']! });
    const object = answer['kind'] === 'Table' ? objectOfRow(answer) : answer;
    if (!isJsonObject(object?.['metadata']) || Array.isArray(answer['items'])) return;
    const { name } = object['metadata'];
    const isCollection = method === 'POST' && typeof name === 'string' && !/\/(binding|eviction|token|scale)$/.test(place);
    const own = isCollection ? `${place}/${name}` : place;
    if (status === 201) this.created.add(isCollection ? `${place}/${encodeURIComponent(name)}` : place);
    const { [FORM]: _form, ...known } = object;
    // Bare metadata is nothing to make an update of.
    if (object['kind'] !== 'PartialObjectMetadata') this.#known.set(own, known);
  }
}

function objectOfRow({ rows }: JsonObject): JsonObject | undefined {
  const row = Array.isArray(rows) ? rows[0] : undefined;
  return isJsonObject(row) && isJsonObject(row['object']) ? row['object'] : undefined;
}

/** The object's message in its envelope; undefined where it can not be one. */
function protobufOf(value: Json): Buffer | undefined {
  if (!isJsonObject(value) || typeof value['apiVersion'] !== 'string' || typeof value['kind'] !== 'string') return undefined;
  const { apiVersion, kind } = value as { apiVersion: string; kind: string };
  try {
    const { group, version } = parseApiVersion(apiVersion)!;
    const schema = schemaOfKind(group, version, kind);
    return encodeProtobufObject(schema, { ...decode(schema, value), apiVersion, kind });
  } catch {
    return undefined;
  }
}
