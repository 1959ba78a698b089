import type { ResourceDefinition, ServedVersion } from '../registry/definition.ts';
import { clone } from '../schema/clone.ts';
import type { EmptyPaths } from '../schema/empty-paths.ts';
import { withResourceVersion } from '../storage/client-json.ts';
import { type StoredCodec, jsonCodec } from '../storage/codec.ts';
import { readableValue } from '../storage/unreadable.ts';
import { type ApiObject, apiVersionOf } from '../api/api-object.ts';
import { isSelfDescribedCbor } from '../encoding/cbor-items.ts';
import { decodeCbor } from '../encoding/cbor-reader.ts';
import { equalJson } from '../encoding/json-equal.ts';
import { parseOwnJson, stringifyJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';

const OWN_BEGINNING = Buffer.from('{"kind":');
const VERSION_BEGINNING = Buffer.from('{"apiVersion":');

/**
 * Stored custom objects as the definition has them today: what was stored by an older schema is pruned and defaulted as it is read, in the version in which
 * it was stored; a conversion makes another of it (conversion/version-conversion.ts). Where there is one version, everything is of it. `isUnchanged`: all
 * was stored by this very definition, and is sent as it is unless another server wrote it, or it was converted. A kube-apiserver beside this one may have
 * stored CBOR (CBORServingAndStorage).
 */
export function storedForm({ group, served }: Pick<ResourceDefinition, 'group' | 'served'>, { isUnchanged }: { isUnchanged: boolean }): StoredCodec {
  const versions = new Map(served.map((version) => [apiVersionOf(group, version.version), version]));
  const only = served.length === 1 ? served[0]! : undefined;
  return {
    encode: jsonCodec.encode.bind(jsonCodec),
    toClientBytes(sealed, revision) {
      const value = readableValue(sealed);
      if (isUnchanged && value.subarray(0, OWN_BEGINNING.length).equals(OWN_BEGINNING)) return withResourceVersion(value, revision);
      const parsed = isSelfDescribedCbor(value) ? decodeCbor(value) : parseOwnJson(value);
      const version = only ?? versions.get(String((parsed as JsonObject)['apiVersion']));
      if (version === undefined) return withResourceVersion(typeFirst(parsed as JsonObject), revision);
      const { custom } = version.schema;
      const object = custom!.decode(parsed, undefined) as unknown as ApiObject;
      object.apiVersion = apiVersionOf(group, version.version);
      version.default?.(object);
      return withResourceVersion(typeFirst(custom!.decode(object as unknown as JsonObject, undefined)), revision);
    },
    // How a value begins is ours alone (`withDefaultsToCome`), and another for another schema.
    areSame: (value, other) => value.length === other.length && kindFirst(value).equals(kindFirst(other)),
  };
}

/** When it is read, nulls go that may not be, and defaults of the stored version are filled in; only what needs neither may begin as what is read without a look. */
export function withDefaultsToCome(served: ServedVersion, object: ApiObject): ApiObject {
  const read = served.schema.custom!.decode(clone(object) as unknown as JsonObject, undefined);
  served.default?.(read as unknown as ApiObject);
  if (equalJson(object, read)) return object;
  const { apiVersion, kind, ...rest } = object;
  return { apiVersion, kind, ...rest };
}

/**
 * To upstream, a custom object is a map, in which empty lists and maps of metadata stay that were applied (`applied`); they are gone when they are read. A
 * conversion leaves none.
 */
export function withAppliedEmpties(stored: ApiObject, applied: EmptyPaths): ApiObject {
  const metadata = applied.restoredIn(stored.metadata);
  if (metadata === stored.metadata) return stored;
  const { apiVersion, kind, ...rest } = stored;
  return { apiVersion, kind, ...rest, metadata };
}

const kindFirst = (value: Buffer): Buffer =>
  value.subarray(0, VERSION_BEGINNING.length).equals(VERSION_BEGINNING) ? typeFirst(parseOwnJson(value) as JsonObject) : value;

const typeFirst = ({ kind, apiVersion, ...rest }: JsonObject): Buffer => Buffer.from(stringifyJson({ kind, apiVersion, ...rest }));
