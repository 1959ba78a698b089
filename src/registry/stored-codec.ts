import { type StoredCodec, jsonCodec, unversioned } from '../storage/codec.ts';
import { sortedJson } from '../storage/encoding/sorted-json.ts';
import { type StoredKind, type StoredVersion, type UpstreamEncoding, upstreamCodec } from '../storage/encoding/upstream-codec.ts';
import { readableValue } from '../storage/unreadable.ts';
import { withResourceVersion } from '../storage/client-json.ts';
import { encodeCbor } from '../schema/cbor-encode.ts';
import { normalize } from '../schema/normalize.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { ApiObject } from '../api/api-object.ts';
import { parseOwnJson, stringifyJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import type { ResourceDefinition } from './definition.ts';

/** How objects of a built-in resource are stored: as upstream does where an encoding is named, else as the JSON that clients are sent. */
export function codecOf(definition: ResourceDefinition, encoding: UpstreamEncoding | undefined): StoredCodec {
  if (encoding !== undefined) return upstreamCodec(storedKind(definition), encoding);
  return definition.storage.defaultsOnRead ? defaultingCodec(definition) : jsonCodec;
}

const defaultingCodec = ({ schema, served: [own] }: ResourceDefinition): StoredCodec => ({
  encode: jsonCodec.encode,
  toClientBytes(value, revision) {
    const object = parseOwnJson(readableValue(value)) as unknown as ApiObject;
    own!.default?.(object);
    return withResourceVersion(Buffer.from(stringifyJson(normalize(schema, object as unknown as JsonObject))), revision);
  },
});

/**
 * The same for a custom resource, whose `codec` knows how values are read: upstream writes them as JSON whatever the encoding, from a Go map, or as CBOR
 * (CBORServingAndStorage).
 */
export function customCodec(codec: StoredCodec, encoding: UpstreamEncoding | undefined): StoredCodec {
  if (encoding === undefined) return codec;
  const encode = (object: JsonObject): Buffer => (encoding.hasCbor ? encodeCbor(object, undefined) : Buffer.from(`${sortedJson(object)}\n`));
  return { encode: (object) => encode(unversioned(object) as unknown as JsonObject), toClientBytes: codec.toClientBytes.bind(codec) };
}

/** The same for a kind that is stored in one version and not served. */
export function unservedCodec(schema: ObjectSchema, encoding: UpstreamEncoding | undefined): StoredCodec {
  if (encoding === undefined) return jsonCodec;
  const version = { ...schema.kinds[0]!, schema };
  return upstreamCodec({ schema, written: version, readable: [version], isJson: false }, encoding);
}

/** Schemas are looked up when they are first asked for, so this does not ask. */
export function storedKind(definition: ResourceDefinition): StoredKind {
  const {
    storage: { form = {} },
    served,
  } = definition;
  const readable = (): StoredVersion[] => [ownVersion(definition), ...served.filter(({ toStored }) => toStored !== undefined), ...(form.older ?? [])];
  let known: StoredVersion[] | undefined;
  return {
    get schema() {
      return definition.schema;
    },
    get readable() {
      return (known ??= readable());
    },
    get written() {
      return form.version === undefined ? this.readable[0]! : this.readable.find(({ version }) => version === form.version)!;
    },
    isJson: form.isJson ?? false,
  };
}

/** The version that the server works in: the first that is served, but where the kind is kept as one of another group. */
function ownVersion({ schema, served: [first] }: ResourceDefinition): StoredVersion {
  if (first!.toStored === undefined) return first!;
  return { ...schema.kinds[0]!, schema };
}
