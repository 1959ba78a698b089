import type { JsonObject } from '../../encoding/json-types.ts';
import { compareText } from './parameters.ts';

/**
 * Parameters that stand once in a v2 document and are referred to (kube-openapi/pkg/builder/parameters.go). Those of one kind alone stay where they are,
 * and so do the two by which older kubectls look whether the server knows dry run and field validation.
 */
export class SharedParameters {
  readonly #namesByJson = new Map<string, string>();
  readonly #definitions = new Map<string, JsonObject>();

  use(parameter: JsonObject): JsonObject {
    if (!isShared(parameter)) return parameter;
    const json = JSON.stringify(parameter);
    let name = this.#namesByJson.get(json);
    if (name === undefined) {
      name = `${String(parameter['name'])}-${shortHash(json)}`;
      this.#namesByJson.set(json, name);
      this.#definitions.set(name, parameter);
    }
    return { $ref: `#/parameters/${name}` };
  }

  definitions(): JsonObject {
    return Object.fromEntries([...this.#definitions].toSorted(([a], [b]) => compareText(a, b)));
  }
}

function isShared({ name, in: place, schema }: JsonObject): boolean {
  if (name === 'name' || (place === 'query' && (name === 'fieldValidation' || name === 'dryRun'))) return false;
  return place !== 'body' || String((schema as JsonObject)['$ref']).startsWith('#/definitions/io.k8s.apimachinery');
}

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

/** Eight characters of an FNV-1 hash. */
function shortHash(text: string): string {
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, hash * FNV_PRIME) ^ BigInt(byte);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(hash);
  return bytes.subarray(0, 6).toString('base64url');
}
