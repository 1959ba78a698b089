import { featuresWhere } from '../../apis/features.ts';
import { storedKinds } from '../../compose/stored-kinds.ts';
import { codecOf, customCodec } from '../../registry/stored-codec.ts';
import { type StoredCodec, jsonCodec } from '../../storage/codec.ts';
import type { UpstreamEncoding } from '../../storage/encoding/upstream-codec.ts';
import type { Stored } from '../../storage/engine.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { parseOwnJson } from '../../encoding/json.ts';

/** Kept by servers for themselves, and made anew by the next one that starts. */
const SERVERS_OWN = ['masterleases/', 'peerserverleases/', 'ranges/'];

/** How each of two stores encodes values; undefined where they are our own JSON. */
interface ConversionOptions {
  keyPrefix: string;
  from: UpstreamEncoding | undefined;
  to: UpstreamEncoding | undefined;
}

interface Codecs {
  from: StoredCodec;
  to: StoredCodec;
}

/** Values of one store as the other keeps them; undefined for what is not to be taken along. */
export function storedConversion({ keyPrefix, from, to }: ConversionOptions): (stored: Stored) => Buffer | undefined {
  const builtIn = new Map<string, Codecs>();
  for (const definition of storedKinds({ features: featuresWhere(() => true), allowsPrivileged: true })) {
    const { prefix } = definition.storage;
    if (!builtIn.has(prefix)) builtIn.set(prefix, { from: codecOf(definition, from), to: codecOf(definition, to) });
  }
  const custom: Codecs = { from: customJson, to: customCodec(customJson, to) };
  return ({ key, value, revision }) => {
    const path = key.slice(keyPrefix.length);
    if (SERVERS_OWN.some((own) => path.startsWith(own))) return undefined;
    if (from === undefined && to === undefined) return value;
    const codecs = builtIn.get(storagePrefixOf(path, builtIn)) ?? custom;
    return codecs.to.encode(parseOwnJson(codecs.from.toClientBytes(value, revision)) as unknown as ApiObject);
  };
}

/** Two parts where those are known (`services/specs`, `apiextensions.k8s.io/customresourcedefinitions`), else the first. */
function storagePrefixOf(path: string, known: ReadonlyMap<string, unknown>): string {
  const [first = '', second = ''] = path.split('/', 2);
  return known.has(`${first}/${second}`) ? `${first}/${second}` : first;
}

/** Custom objects are JSON in either store; their definitions are not needed to write the one from the other. */
const customJson: StoredCodec = {
  encode(object) {
    const { kind, apiVersion, metadata, ...rest } = object;
    return jsonCodec.encode({ kind, apiVersion, metadata, ...rest } as ApiObject);
  },
  toClientBytes: jsonCodec.toClientBytes.bind(jsonCodec),
};
