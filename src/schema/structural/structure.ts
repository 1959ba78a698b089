import { isJsonObject } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import type { JsonSchema } from './json-schema.ts';

/**
 * A structural schema made ready: what shapes objects (pruning, defaults, list types), without what they are compiled by. Nodes are made when they are
 * first asked for, so that a definition costs nothing until its resource is used.
 */
export class Structure {
  readonly schema: JsonSchema;
  readonly isNullable: boolean;
  readonly isEmbeddedResource: boolean;
  readonly keepsUnknownFields: boolean;
  readonly #names: ReadonlySet<string>;
  readonly #properties = new Map<string, Structure>();
  #additional: Structure | null | undefined;
  #items: Structure | null | undefined;
  #hasDefaults: boolean | undefined;
  #hasListTypes: boolean | undefined;
  #hasEmbedded: boolean | undefined;

  constructor(schema: JsonSchema) {
    this.schema = schema;
    this.isNullable = schema.nullable === true;
    this.isEmbeddedResource = schema['x-kubernetes-embedded-resource'] === true;
    this.keepsUnknownFields = schema['x-kubernetes-preserve-unknown-fields'] === true;
    this.#names = new Set(Object.keys(schema.properties ?? {}));
  }

  /** Null counts as none. */
  get default(): Json | undefined {
    return this.schema.default ?? undefined;
  }

  get propertyNames(): ReadonlySet<string> {
    return this.#names;
  }

  property(name: string): Structure | undefined {
    if (!this.#names.has(name)) return undefined;
    let property = this.#properties.get(name);
    if (property === undefined) this.#properties.set(name, (property = new Structure(this.schema.properties![name]!)));
    return property;
  }

  /** Of keys that are no properties. `additionalProperties: true` lets them in as they are. */
  get additional(): Structure | undefined {
    if (this.#additional === undefined) this.#additional = structureIn(this.schema.additionalProperties);
    return this.#additional ?? undefined;
  }

  get items(): Structure | undefined {
    if (this.#items === undefined) this.#items = structureIn(this.schema.items);
    return this.#items ?? undefined;
  }

  child(key: string): Structure | undefined {
    return this.property(key) ?? this.additional;
  }

  /** Whether anything below this has a default: what has none need not be walked. */
  get hasDefaults(): boolean {
    return (this.#hasDefaults ??= this.#someBelow((inner) => inner.default !== undefined || inner.hasDefaults));
  }

  /** Whether this or anything below it is a list that is a set or a map. */
  get hasListTypes(): boolean {
    const type = this.schema['x-kubernetes-list-type'];
    return (this.#hasListTypes ??= type === 'set' || type === 'map' || this.#someBelow((inner) => inner.hasListTypes));
  }

  /** Whether this or anything below it is an embedded resource. */
  get hasEmbedded(): boolean {
    return (this.#hasEmbedded ??= this.isEmbeddedResource || this.#someBelow((inner) => inner.hasEmbedded));
  }

  #someBelow(test: (inner: Structure) => boolean): boolean {
    for (const name of this.#names) if (test(this.property(name)!)) return true;
    return [this.additional, this.items].some((inner) => inner !== undefined && test(inner));
  }
}

const ANYTHING: JsonSchema = { 'x-kubernetes-preserve-unknown-fields': true, nullable: true };

function structureIn(value: unknown): Structure | null {
  if (value === true) return new Structure(ANYTHING);
  return isJsonObject(value as Json) ? new Structure(value as JsonSchema) : null;
}
