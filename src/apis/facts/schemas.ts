import type { FieldSchema, InlinedMessage, ObjectSchema } from '../../schema/schema.ts';
import type { GroupVersionKind } from '../../api/api-object.ts';
import { parseLine } from './field-line.ts';
import packages from './packages.json' with { type: 'json' };
import servedTypes from './types.json' with { type: 'json' };
import unservedTypes from './types-unserved.json' with { type: 'json' };

/** One entry of the generated tables; `field-line.ts` reads the lines. */
interface TypeEntry {
  kinds?: readonly string[];
  mapType?: string;
  unions?: ObjectSchema['unions'];
  noProto?: boolean;
  fields: readonly string[];
}

/** `apps/v1` → `io.k8s.api.apps.v1`, where the group-version's kinds are. */
const packagesByVersion: Record<string, string> = packages;
const served = servedTypes as unknown as Record<string, TypeEntry>;
/** Types of versions that no server of v1.36 serves, but that its clients, webhooks and stored objects may still name. */
const unserved = unservedTypes as unknown as Record<string, TypeEntry>;

const entryOf = (name: string): TypeEntry | undefined =>
  Object.hasOwn(served, name) ? served[name] : Object.hasOwn(unserved, name) ? unserved[name] : undefined;

/** A built-in type. Its fields are read from their lines at first use, so that naming a type costs nothing, and types may hold themselves. */
class BuiltinSchema implements ObjectSchema {
  readonly type = 'object';
  readonly name: string;
  readonly kinds: readonly GroupVersionKind[];
  readonly mapType?: 'atomic' | 'granular';
  readonly protoMessage?: string;
  readonly unions?: NonNullable<ObjectSchema['unions']>;
  readonly #lines: readonly string[];
  #fields: ReadonlyMap<string, FieldSchema> | undefined;
  #inlined: readonly InlinedMessage[] = [];

  constructor(name: string, entry: TypeEntry) {
    this.name = name;
    this.#lines = entry.fields;
    this.kinds = (entry.kinds ?? []).map(parseKind);
    if (entry.mapType !== undefined) this.mapType = entry.mapType as 'atomic' | 'granular';
    if (entry.unions !== undefined) this.unions = entry.unions;
    if (!entry.noProto) this.protoMessage = `k8s.io.${name.slice('io.k8s.'.length).replaceAll('-', '_')}`;
  }

  get fields(): ReadonlyMap<string, FieldSchema> {
    return (this.#fields ??= this.#read());
  }

  get inlined(): readonly InlinedMessage[] {
    this.#fields ??= this.#read();
    return this.#inlined;
  }

  #read(): ReadonlyMap<string, FieldSchema> {
    const folder = this.name.slice(0, this.name.lastIndexOf('.') + 1);
    const resolve = (reference: string): ObjectSchema => schemaOf(reference.includes('.') ? reference : folder + reference);
    const fields = new Map<string, FieldSchema>();
    const inlined: InlinedMessage[] = [];
    for (const line of this.#lines) {
      const parsed = parseLine(line, resolve);
      if ('field' in parsed) {
        fields.set(parsed.field.name, parsed.field);
        continue;
      }
      const schema = resolve(parsed.inlined);
      inlined.push({ protoNumber: parsed.protoNumber, schema });
      for (const { protoNumber: _nested, ...field } of schema.fields.values()) fields.set(field.name, field);
    }
    this.#inlined = inlined;
    return fields;
  }
}

function parseKind(text: string): GroupVersionKind {
  const [group, version, kind] = text.split('/') as [string, string, string];
  return { group, version, kind };
}

const schemas = new Map<string, ObjectSchema>();
const schemasByKind = new Map<string, ObjectSchema>();

/** The schema of a built-in type by OpenAPI's name, `io.k8s.api.core.v1.Pod`; always the same object. Throws where there is none. */
export function schemaOf(name: string): ObjectSchema {
  let schema = schemas.get(name);
  if (schema === undefined) {
    const entry = entryOf(name);
    if (entry === undefined) throw new Error(`no built-in type is named ${name}`);
    schema = new BuiltinSchema(name, entry);
    schemas.set(name, schema);
  }
  return schema;
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** Kinds of meta/v1 that every group-version knows (apimachinery's metav1.AddToGroupVersion); the core group knows more of them. */
const COMMON_KINDS = /^(WatchEvent|(List|Get|Delete|Create|Update|Patch)Options)$/;

/** The schema of a built-in kind, served or not. Throws where there is none; `hasKind` asks first. */
export function schemaOfKind(group: string, version: string, kind: string): ObjectSchema {
  const key = `${group}/${version}/${kind}`;
  let schema = schemasByKind.get(key);
  if (schema === undefined) {
    const name = nameOfKind(group, version, kind);
    if (name === undefined) throw new Error(`no built-in kind is ${key}`);
    schema = schemaOf(name);
    schemasByKind.set(key, schema);
  }
  return schema;
}

export const hasKind = (group: string, version: string, kind: string): boolean => nameOfKind(group, version, kind) !== undefined;

function nameOfKind(group: string, version: string, kind: string): string | undefined {
  const key = `${group}/${version}`;
  const name = Object.hasOwn(packagesByVersion, key) ? `${packagesByVersion[key]}.${kind}` : undefined;
  if (name !== undefined && entryOf(name)?.kinds?.includes(`${key}/${kind}`)) return name;
  const common = `${META}.${kind}`;
  return (key === '/v1' || COMMON_KINDS.test(kind)) && entryOf(common)?.kinds?.includes(`/v1/${kind}`) ? common : undefined;
}
