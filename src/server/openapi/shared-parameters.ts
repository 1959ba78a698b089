import { fnv1 } from '../../encoding/fnv.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { type Parameter, compareText } from './parameters.ts';

/**
 * Parameters that stand once in a v2 document and are referred to (kube-openapi/pkg/builder/parameters.go). Those of one kind alone stay where they are,
 * and so do the two by which older kubectls look whether the server knows dry run and field validation.
 */
export class SharedParameters {
  readonly #written: WrittenParameters;
  readonly #definitions = new Map<string, JsonObject>();

  /** `written`: of other parts of the document, or of documents with the same descriptions. */
  constructor(written = new WrittenParameters()) {
    this.#written = written;
  }

  /** As it stands in an operation; `write` is not called for one that was written before. */
  useWritten(parameter: Parameter, write: (parameter: Parameter) => JsonObject): JsonObject {
    return this.#noted(this.#written.of(parameter, write));
  }

  use(parameter: JsonObject): JsonObject {
    return this.#noted(this.#written.named(parameter));
  }

  #noted({ parameter, name, reference }: Written): JsonObject {
    if (name === undefined) return parameter;
    if (!this.#definitions.has(name)) this.#definitions.set(name, parameter);
    return reference;
  }

  definitions(): JsonObject {
    return Object.fromEntries([...this.#definitions].toSorted(([a], [b]) => compareText(a, b)));
  }
}

interface Written {
  parameter: JsonObject;
  /** Of one that is shared: what refers to it. */
  name: string | undefined;
  reference: JsonObject;
}

/** The parameters of many operations, each of which has the same few dozen: written and named once. */
export class WrittenParameters {
  readonly #byParameter = new WeakMap<Parameter, Written>();
  readonly #names = new Map<string, string>();

  of(parameter: Parameter, write: (parameter: Parameter) => JsonObject): Written {
    const known = this.#byParameter.get(parameter);
    if (known) return known;
    const written = this.named(write(parameter));
    this.#byParameter.set(parameter, written);
    return written;
  }

  named(parameter: JsonObject): Written {
    if (!isShared(parameter)) return { parameter, name: undefined, reference: parameter };
    const json = JSON.stringify(parameter);
    let name = this.#names.get(json);
    if (name === undefined) this.#names.set(json, (name = `${String(parameter['name'])}-${shortHash(json)}`));
    return { parameter, name, reference: { $ref: `#/parameters/${name}` } };
  }
}

function isShared({ name, in: place, schema }: JsonObject): boolean {
  if (name === 'name' || (place === 'query' && (name === 'fieldValidation' || name === 'dryRun'))) return false;
  return place !== 'body' || String((schema as JsonObject)['$ref']).startsWith('#/definitions/io.k8s.apimachinery');
}

/** Eight characters of an FNV-1 hash. */
function shortHash(text: string): string {
  const { high, low } = fnv1(Buffer.from(text));
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(high);
  bytes.writeUInt32BE(low, 4);
  return bytes.subarray(0, 6).toString('base64url');
}
