import type { ResourceDefinition } from '../registry/definition.ts';
import { withResourceVersion } from '../storage/client-json.ts';
import type { StoredCodec } from '../storage/codec.ts';
import { type ApiObject, apiVersionOf } from '../util/api-object.ts';
import { parseOwnJson, stringifyJson } from '../util/json.ts';
import type { JsonObject } from '../util/json-types.ts';

const OWN_BEGINNING = Buffer.from('{"kind":');

/**
 * Stored custom objects as the definition has them today: what was stored by an older schema, or as another version, is pruned, defaulted and renamed as
 * it is read. `isUnchanged`: all was stored by this very definition, and is sent as it is unless another server wrote it.
 */
export function storedForm(definition: ResourceDefinition, isUnchanged: boolean): StoredCodec {
  const [stored] = definition.served;
  const apiVersion = apiVersionOf(definition.group, definition.version);
  return {
    toClientBytes(value, revision) {
      if (isUnchanged && value.subarray(0, OWN_BEGINNING.length).equals(OWN_BEGINNING)) return withResourceVersion(value, revision);
      const object = definition.schema.custom!.decode(parseOwnJson(value), undefined) as unknown as ApiObject;
      object.apiVersion = apiVersion;
      stored!.default?.(object);
      const { kind, apiVersion: version, ...rest } = definition.schema.custom!.decode(object as unknown as JsonObject, undefined);
      return withResourceVersion(Buffer.from(stringifyJson({ kind, apiVersion: version, ...rest })), revision);
    },
  };
}
