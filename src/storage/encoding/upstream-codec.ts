import { clone } from '../../schema/clone.ts';
import { decode, DecodeError } from '../../schema/decode.ts';
import { normalize } from '../../schema/normalize.ts';
import { decodeEnvelope, decodeStoredProtobuf, encodeProtobufObject, isProtobufEnvelope } from '../../schema/protobuf.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import { type ApiObject, apiVersionOf } from '../../api/api-object.ts';
import { ApiError, unknownError } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { isJsonObject, parseJson, stringifyJson } from '../../encoding/json.ts';
import { InputTooLarge, JsonError } from '../../encoding/json-parser.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { type StoredCodec, unversioned } from '../codec.ts';
import { withResourceVersion } from '../client-json.ts';
import { readableValue } from '../unreadable.ts';
import { RecentWrites } from './recent-writes.ts';

/* Values as kube-apiserver keeps them in etcd (apiserver/pkg/server/storage/storage_codec.go), so that either can read what the other wrote. */

export type StorageMediaType = 'application/vnd.kubernetes.protobuf' | 'application/json' | 'application/yaml';

/** Of `encoding/yaml.ts`, which is slow to load. */
export interface YamlForm {
  parseYaml(text: string): Json;
  toYaml(value: Json): string;
}

/** `--storage-media-type`, with what it takes to read the others. */
export interface UpstreamEncoding {
  mediaType: StorageMediaType;
  yaml: YamlForm;
  /** Custom resources are written in CBOR. */
  hasCbor?: boolean;
}

/** One version in which objects of a kind are, or once were, stored. Hooks see the object in this version; conversions may change their argument. */
export interface StoredVersion {
  group: string;
  version: string;
  kind: string;
  /** Absent where only JSON of it is stored, and the conversions know its fields. */
  schema?: ObjectSchema;
  default?(object: ApiObject): void;
  /** To and from the version that the server works in; absent where this is it. */
  toStored?(object: ApiObject): ApiObject;
  fromStored?(object: ApiObject): ApiObject;
}

export interface StoredKind {
  /** Of the version that the server works in. */
  readonly schema: ObjectSchema;
  /** What new values are written as. */
  readonly written: StoredVersion;
  /** What values may be of: the version that the server works in first, `written` among them. */
  readonly readable: readonly StoredVersion[];
  /** Upstream has no protobuf for it, or does not use it. */
  readonly isJson: boolean;
}

/** Upstream's name for the types that it knows, which its errors tell. */
const SCHEME = 'k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30';

export function upstreamCodec(kind: StoredKind, encoding: UpstreamEncoding): StoredCodec {
  const mediaType = kind.isJson ? 'application/json' : encoding.mediaType;
  const recent = recentWritesOf(encoding);
  return {
    encode(object) {
      const plain = unversioned(object);
      const value = written(kind, plain, mediaType, encoding.yaml);
      recent.add(value, () => stringifyJson(asRead(kind, plain)));
      return value;
    },
    toClientBytes(value, revision) {
      const readable = readableValue(value);
      const own = recent.find(readable);
      if (own) return withResourceVersion(own, revision);
      return withResourceVersion(Buffer.from(readJson(kind, readable, encoding.yaml)), revision);
    },
  };
}

/** The canonical object as it will be read: what is stored lacks what was taken off it after it was defaulted, as upstream's does. */
function asRead({ schema, readable: [own] }: StoredKind, object: ApiObject): ApiObject {
  if (!own!.default) return object;
  const defaulted = clone(object);
  own!.default(defaulted);
  return equalJson(defaulted, object) ? object : (normalize(schema, defaulted as unknown as JsonObject) as unknown as ApiObject);
}

const recentWrites = new WeakMap<UpstreamEncoding, RecentWrites>();

/** One for all kinds of a server, so that it is bounded whatever is written. */
function recentWritesOf(encoding: UpstreamEncoding): RecentWrites {
  let recent = recentWrites.get(encoding);
  if (recent === undefined) recentWrites.set(encoding, (recent = new RecentWrites()));
  return recent;
}

function written({ written: version }: StoredKind, object: ApiObject, mediaType: StorageMediaType, yaml: YamlForm): Buffer {
  const { schema, fromStored } = version;
  const converted = fromStored ? fromStored(clone(object)) : object;
  const final = (fromStored && schema ? normalize(schema, converted as unknown as JsonObject) : converted) as unknown as ApiObject;
  if (mediaType === 'application/vnd.kubernetes.protobuf') return encodeProtobufObject(schema!, final);
  const json = final as unknown as JsonObject;
  return Buffer.from(mediaType === 'application/yaml' ? yaml.toYaml(json) : `${stringifyJson(json)}\n`);
}

/** Whatever it was stored as: the JSON of the object in the version that the server works in, canonical. */
function readJson(kind: StoredKind, value: Buffer, yaml: YamlForm): string {
  try {
    const { version, object } = isProtobufEnvelope(value) ? fromProtobuf(kind, value) : fromText(kind, value, yaml);
    // Canonical already, unless there are defaults to fill in or fields to convert; to compare texts is much less work than to order all fields anew.
    const text = version.schema && version.toStored === undefined ? stringifyJson(object) : undefined;
    version.default?.(object);
    if (text !== undefined && (version.default === undefined || stringifyJson(object) === text)) return text;
    const own = version.toStored ? version.toStored(object) : object;
    // Versions that are no longer served have no defaults of their own.
    if (version.default === undefined) kind.readable[0]!.default?.(own);
    return stringifyJson(normalize(kind.schema, own as unknown as JsonObject));
  } catch (error) {
    // What is wrong with the bytes is the store's fault, not the client's.
    if (error instanceof ApiError || error instanceof DecodeError || error instanceof JsonError || error instanceof InputTooLarge)
      throw unknownError(error.message);
    throw error;
  }
}

interface Read {
  version: StoredVersion;
  object: ApiObject;
}

function fromProtobuf(kind: StoredKind, value: Buffer): Read {
  const envelope = decodeEnvelope(value);
  const version = versionOf(kind, envelope.apiVersion, envelope.kind);
  if (version.schema === undefined) throw notRegistered(envelope.apiVersion, envelope.kind);
  const object = decodeStoredProtobuf(version.schema, envelope.raw);
  return { version, object: { kind: envelope.kind, apiVersion: envelope.apiVersion, ...object } as unknown as ApiObject };
}

const OPENING_BRACE = 0x7b;

function fromText(kind: StoredKind, value: Buffer, yaml: YamlForm): Read {
  const parsed = value[0] === OPENING_BRACE ? parseJson(value) : parsedYaml(yaml, value.toString());
  if (!isJsonObject(parsed)) throw unknownError("couldn't get version/kind; json parse error: json: cannot unmarshal into Go value of type struct");
  const version = versionOf(kind, String(parsed['apiVersion'] ?? ''), String(parsed['kind'] ?? ''));
  return { version, object: (version.schema ? decode(version.schema, parsed) : parsed) as unknown as ApiObject };
}

/** Its errors have a class of their own, in a module that is not loaded here. */
function parsedYaml(yaml: YamlForm, text: string): Json {
  try {
    return yaml.parseYaml(text);
  } catch (error) {
    throw unknownError((error as Error).message);
  }
}

function versionOf({ readable }: StoredKind, apiVersion: string, kind: string): StoredVersion {
  const found = readable.find((version) => version.kind === kind && apiVersionOf(version.group, version.version) === apiVersion);
  if (found === undefined) throw notRegistered(apiVersion, kind);
  return found;
}

const notRegistered = (apiVersion: string, kind: string): ApiError =>
  unknownError(`no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme ${quote(SCHEME)}`);
