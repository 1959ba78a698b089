import { equal } from '../compare.ts';
import { formatLiteral } from '../convert.ts';
import { fn, overload, type Library, type TypeProvider } from '../declarations.ts';
import { DYN, STRING, structType, type CelType } from '../types.ts';
import { CelError, CelObject, typeOf, type CelValue } from '../values.ts';

/** What expressions of mutating policies make: JSON patches, and objects to be applied (apiserver/pkg/cel/mutation). */
const JSON_PATCH_NAME = 'JSONPatch';
const OBJECT_NAME = 'Object';
const JSON_PATCH = structType(JSON_PATCH_NAME);
const PATCH_FIELDS: Readonly<Record<string, CelType>> = { op: STRING, path: STRING, from: STRING, value: DYN };

/** Fields by name; those that were not given are not there. */
abstract class FieldsValue extends CelObject {
  readonly fields: ReadonlyMap<string, CelValue>;

  constructor(fields: ReadonlyMap<string, CelValue>) {
    super();
    this.fields = fields;
  }

  override equals(other: CelValue): boolean | CelError {
    if (!(other instanceof FieldsValue) || other.type.name !== this.type.name || other.fields.size !== this.fields.size) return false;
    return Array.from(this.fields).every(([name, value]) => other.fields.has(name) && equal(value, other.fields.get(name)!) === true);
  }

  toString(): string {
    return `${this.type.name}{${Array.from(this.fields, ([name, value]) => `${name}: ${formatLiteral(value)}`).join(', ')}}`;
  }
}

/** One operation of a JSON patch. */
export class JsonPatchValue extends FieldsValue {
  readonly type = JSON_PATCH;

  /** Texts that were left out are empty. */
  override get(field: string): CelValue | undefined {
    return this.fields.get(field) ?? (field === 'value' || !Object.hasOwn(PATCH_FIELDS, field) ? undefined : '');
  }

  override isSet(field: string): boolean {
    return field === 'value' ? this.fields.has(field) : (this.fields.get(field) ?? '') !== '';
  }
}

/** An object to be applied: `Object.spec{replicas: 3}`. Any field may be named. */
export class AppliedObjectValue extends FieldsValue {
  readonly type: CelType;

  constructor(type: CelType, fields: ReadonlyMap<string, CelValue>) {
    super(fields);
    this.type = type;
  }

  override get(field: string): CelValue | undefined {
    return this.fields.get(field);
  }
}

function constructPatch(fields: ReadonlyMap<string, CelValue>): CelValue {
  for (const [name, value] of fields) {
    if (!Object.hasOwn(PATCH_FIELDS, name)) return new CelError(`unexpected JSONPatchType field: ${name}`);
    if (name !== 'value' && typeof value !== 'string') return new CelError(`unexpected type ${typeOf(value).name} for JSONPatchType '${name}' field`);
  }
  return new JsonPatchValue(fields);
}

const isObjectType = (name: string): boolean => name === OBJECT_NAME || name.startsWith(`${OBJECT_NAME}.`);

/** The types `JSONPatch`, `Object` and `Object.<field>…`. */
export const MUTATION_TYPES: TypeProvider = {
  findType: (name) => (name === JSON_PATCH_NAME ? JSON_PATCH : isObjectType(name) ? structType(name) : undefined),
  findField: (typeName, field) =>
    isObjectType(typeName) ? DYN : typeName === JSON_PATCH_NAME && Object.hasOwn(PATCH_FIELDS, field) ? PATCH_FIELDS[field] : undefined,
  construct(typeName, fields) {
    if (typeName === JSON_PATCH_NAME) return constructPatch(fields);
    return isObjectType(typeName) ? new AppliedObjectValue(structType(typeName), fields) : undefined;
  },
};

/** `jsonpatch.escapeKey` (apiserver/pkg/cel/library/jsonpatch.go). */
export const JSON_PATCH_LIBRARY: Library = {
  functions: [
    fn(
      'jsonpatch.escapeKey',
      overload('string_jsonpatch_escapeKey_string', [STRING], STRING, (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')),
    ),
  ],
};
