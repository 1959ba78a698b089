import { isJsonObject } from '../../util/json.ts';
import type { Json } from '../../util/json-types.ts';
import { effectiveFormat } from './formats.ts';
import type { JsonSchema } from './json-schema.ts';

/** A property, and whether its name is one that every object seems to have (`constructor`). */
interface JudgedProperty {
  name: string;
  isInherited: boolean;
  schema: JudgedSchema;
}

/** A schema made ready to judge values by: what is the same for all values is worked out once, when it is first asked for. */
export class JudgedSchema {
  readonly schema: JsonSchema;
  /** The types that a value may have; none for any. */
  readonly types: readonly string[];
  readonly format: string | undefined;
  readonly hasAlternatives: boolean;
  readonly hasBounds: boolean;
  #properties: readonly JudgedProperty[] | undefined;
  #items: JudgedSchema | null | undefined;
  #additional: JudgedSchema | null | undefined;

  private constructor(schema: JsonSchema) {
    const { type, format, anyOf, oneOf, allOf, not, minimum, maximum, multipleOf } = schema;
    this.schema = schema;
    this.types = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : type ? [type] : [];
    this.format = effectiveFormat(type, format);
    this.hasAlternatives = Boolean(anyOf ?? oneOf ?? allOf ?? not);
    this.hasBounds = type === 'integer' || format === 'float' || (minimum ?? maximum ?? multipleOf) !== undefined;
  }

  /** Each schema is made ready once, and as long as somebody has it. */
  static of(schema: JsonSchema): JudgedSchema {
    let judged = known.get(schema);
    if (judged === undefined) known.set(schema, (judged = new JudgedSchema(schema)));
    return judged;
  }

  get properties(): readonly JudgedProperty[] {
    return (this.#properties ??= Object.entries(this.schema.properties ?? {}).map(([name, schema]) => ({
      name,
      isInherited: name in Object.prototype,
      schema: JudgedSchema.of(schema),
    })));
  }

  get items(): JudgedSchema | undefined {
    if (this.#items === undefined) this.#items = judgedIn(this.schema.items);
    return this.#items ?? undefined;
  }

  get additional(): JudgedSchema | undefined {
    if (this.#additional === undefined) this.#additional = judgedIn(this.schema.additionalProperties);
    return this.#additional ?? undefined;
  }
}

const known = new WeakMap<JsonSchema, JudgedSchema>();

const judgedIn = (value: unknown): JudgedSchema | null => (isJsonObject(value as Json) ? JudgedSchema.of(value as JsonSchema) : null);
