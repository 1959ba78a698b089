import { isJsonObject } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { type Regexp, compileRegexp } from '../../re2/regexp.ts';
import { effectiveFormat } from './formats.ts';
import type { JsonSchema } from './json-schema.ts';

/** A property, and whether its name is one that every object seems to have (`constructor`). */
interface CompiledProperty {
  name: string;
  isInherited: boolean;
  schema: CompiledSchema;
}

/** A schema, compiled: what is the same for all values is worked out once, when it is first asked for. */
export class CompiledSchema {
  readonly schema: JsonSchema;
  /** The types that a value may have; none for any. */
  readonly types: readonly string[];
  readonly format: string | undefined;
  readonly hasAlternatives: boolean;
  readonly hasBounds: boolean;
  #properties: readonly CompiledProperty[] | undefined;
  #items: CompiledSchema | null | undefined;
  #additional: CompiledSchema | null | undefined;
  #places: ReadonlyMap<string, number> | undefined;
  #pattern: Regexp | { error: string } | undefined;
  #choices: ReadonlySet<string> | undefined;

  private constructor(schema: JsonSchema) {
    const { type, format, anyOf, oneOf, allOf, not, minimum, maximum, multipleOf } = schema;
    this.schema = schema;
    this.types = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : type ? [type] : [];
    this.format = effectiveFormat(type, format);
    this.hasAlternatives = Boolean(anyOf ?? oneOf ?? allOf ?? not);
    this.hasBounds = type === 'integer' || format === 'float' || (minimum ?? maximum ?? multipleOf) !== undefined;
  }

  /** Each schema is made ready once, and as long as somebody has it. */
  static of(schema: JsonSchema): CompiledSchema {
    let compiled = known.get(schema);
    if (compiled === undefined) known.set(schema, (compiled = new CompiledSchema(schema)));
    return compiled;
  }

  get properties(): readonly CompiledProperty[] {
    return (this.#properties ??= Object.entries(this.schema.properties ?? {}).map(([name, schema]) => ({
      name,
      isInherited: name in Object.prototype,
      schema: CompiledSchema.of(schema),
    })));
  }

  /** Those of the properties that the object may have, in the schema's order: a schema of thousands is not gone through for each of thousands of objects. */
  propertiesOf(object: JsonObject): readonly CompiledProperty[] {
    const { properties } = this;
    if (properties.length <= FEW_PROPERTIES) return properties;
    this.#places ??= new Map(properties.map(({ name }, place) => [name, place]));
    const places: number[] = [];
    for (const name in object) {
      const place = this.#places.get(name);
      if (place !== undefined) places.push(place);
    }
    return places.toSorted((a, b) => a - b).map((place) => properties[place]!);
  }

  /** The values of an enumeration, as texts to be looked up; undefined where there is none. */
  get choices(): ReadonlySet<string> | undefined {
    if (!this.schema.enum || this.schema.enum.length === 0) return undefined;
    return (this.#choices ??= new Set(this.schema.enum.map(canonicalText)));
  }

  /** The pattern, compiled. Kept here, since a schema may have more patterns than a cache holds. */
  get pattern(): Regexp | { error: string } | undefined {
    const { pattern } = this.schema;
    if (!pattern) return undefined;
    if (this.#pattern === undefined) {
      const compiled = compileRegexp(pattern);
      this.#pattern = 'error' in compiled ? compiled : compiled.keep();
    }
    return this.#pattern;
  }

  get items(): CompiledSchema | undefined {
    if (this.#items === undefined) this.#items = compiledIn(this.schema.items);
    return this.#items ?? undefined;
  }

  get additional(): CompiledSchema | undefined {
    if (this.#additional === undefined) this.#additional = compiledIn(this.schema.additionalProperties);
    return this.#additional ?? undefined;
  }
}

const FEW_PROPERTIES = 64;

/** The same for values that are equal, and for no others: keys in one order. */
export function canonicalText(value: Json): string {
  if (typeof value === 'string') return `s${value}`;
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? `${value}n` : String(value);
  if (Array.isArray(value)) return `[${value.map(nestedText).join(',')}]`;
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${keys
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${nestedText(value[key]!)}`)
    .join(',')}}`;
}

const nestedText = (value: Json): string => (typeof value === 'string' ? JSON.stringify(value) : canonicalText(value));

const known = new WeakMap<JsonSchema, CompiledSchema>();

const compiledIn = (value: unknown): CompiledSchema | null => (isJsonObject(value as Json) ? CompiledSchema.of(value as JsonSchema) : null);
