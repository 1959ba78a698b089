import type { ResourceDefinition } from '../registry/definition.ts';
import { withResourceVersion } from '../storage/client-json.ts';
import { type StoredCodec, jsonCodec } from '../storage/codec.ts';
import { readableValue } from '../storage/unreadable.ts';
import { type ApiObject, apiVersionOf } from '../util/api-object.ts';
import { isSelfDescribedCbor } from '../util/cbor-items.ts';
import { decodeCbor } from '../util/cbor-reader.ts';
import { parseOwnJson, stringifyJson } from '../util/json.ts';
import type { JsonObject } from '../util/json-types.ts';

const OWN_BEGINNING = Buffer.from('{"kind":');

/**
 * Stored custom objects as the definition has them today: what was stored by an older schema, or as another version, is pruned, defaulted and renamed as
 * it is read. `isUnchanged`: all was stored by this very definition, and is sent as it is unless another server wrote it. Without `renames`, what was
 * stored as another version stays of it: a webhook has to convert it. A kube-apiserver beside this one may have stored CBOR (CBORServingAndStorage).
 */
export function storedForm(definition: ResourceDefinition, { isUnchanged, renames }: { isUnchanged: boolean; renames: boolean }): StoredCodec {
  const [stored] = definition.served;
  const apiVersion = apiVersionOf(definition.group, definition.version);
  return {
    encode: jsonCodec.encode.bind(jsonCodec),
    toClientBytes(sealed, revision) {
      const value = readableValue(sealed);
      if (isUnchanged && value.subarray(0, OWN_BEGINNING.length).equals(OWN_BEGINNING)) return withResourceVersion(value, revision);
      const parsed = isSelfDescribedCbor(value) ? decodeCbor(value) : parseOwnJson(value);
      if (!renames && (parsed as JsonObject)['apiVersion'] !== apiVersion) return withResourceVersion(typeFirst(parsed as JsonObject), revision);
      const object = definition.schema.custom!.decode(parsed, undefined) as unknown as ApiObject;
      object.apiVersion = apiVersion;
      stored!.default?.(object);
      return withResourceVersion(typeFirst(definition.schema.custom!.decode(object as unknown as JsonObject, undefined)), revision);
    },
  };
}

const typeFirst = ({ kind, apiVersion, ...rest }: JsonObject): Buffer => Buffer.from(stringifyJson({ kind, apiVersion, ...rest }));
