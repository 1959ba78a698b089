import type { OpenApiSchema } from '../openapi.ts';
import { type Change, objectDetail, tableChanges } from './table-changes.ts';
import { type FactSet, stable, type Table } from './fact-set.ts';

/** Per document, so that they differ without a change. */
const PER_DOCUMENT = /\.meta\.v1\.(DeleteOptions|WatchEvent)$/;
const MARKS = { added: '+', removed: '−', changed: '~' };

/** Type → field → its schema. */
type Types = ReadonlyMap<string, Table>;

/** One change a type: its fields that came, went and changed. */
export function typeChanges(a: FactSet, b: FactSet): Change[] {
  const options = { enumerations: a.hasEnumerations && b.hasEnumerations };
  const [before, after] = [typesOf(a, { ...options, itemDefaults: false }), typesOf(b, { ...options, itemDefaults: false })];
  const changes = tableChanges(wholes(before), wholes(after), () => '').map((change) => withFields(change, before, after));
  return [
    ...inPackages(changes, before, after),
    ...itemDefaultChanges(typesOf(a, { ...options, itemDefaults: true }), typesOf(b, { ...options, itemDefaults: true }), changes),
  ];
}

const wholes = (types: Types): Table => new Map([...types].map(([name, fields]) => [name, stable([...fields])]));

const packageOf = (type: string): string => type.slice(0, type.lastIndexOf('.'));

/** A package that is new or gone as a whole is one change, and a list is not told beside its kind. */
function inPackages(changes: readonly Change[], before: Types, after: Types): Change[] {
  const [old, now] = [before, after].map((types) => new Set([...types.keys()].map(packageOf))) as [Set<string>, Set<string>];
  const isWhole = ({ kind, subject }: Change): boolean => !(kind === 'added' ? old : now).has(packageOf(subject));
  const told = new Set(changes.map(({ subject }) => subject));
  const single = changes.filter((change) => !isWhole(change) && !(change.kind !== 'changed' && told.has(kindOfList(change.subject))));
  const whole = changes.filter(isWhole);
  const packages = [...new Set(whole.map(({ subject }) => packageOf(subject)))].map((name): Change => {
    const types = whole.filter(({ subject }) => packageOf(subject) === name);
    return { kind: types[0]!.kind, subject: `${name}.*`, detail: `${types.length} types` };
  });
  return [...single, ...packages].toSorted((x, y) => (x.subject < y.subject ? -1 : 1));
}

/** '' where a type is no list. */
const kindOfList = (type: string): string => (type.endsWith('List') ? type.slice(0, -'List'.length) : '');

function withFields(change: Change, before: Types, after: Types): Change {
  if (change.kind === 'removed') return change;
  const fields = after.get(change.subject)!;
  if (change.kind === 'added') return { ...change, detail: `${fields.size} ${fields.size === 1 ? 'field' : 'fields'}` };
  const changed = tableChanges(before.get(change.subject)!, fields, (was, is) => (was === undefined || is === undefined ? '' : fieldDetail(was, is)));
  return { ...change, detail: changed.map(({ kind, subject, detail }) => `${MARKS[kind]}${subject}${detail === '' ? '' : ` (${detail})`}`).join(', ') };
}

const fieldDetail = (before: string, after: string): string =>
  objectDetail(before, after)
    .replaceAll('#/components/schemas/', '')
    .replace('required: none → true', 'now required')
    .replace('required: true → none', 'no longer required');

/** Where only the zero that OpenAPI shows as default of a list's items came or went: hundreds of fields at once, told in one line. */
function itemDefaultChanges(before: Types, after: Types, told: readonly Change[]): Change[] {
  const others = new Set(told.map(({ subject }) => subject));
  const types = tableChanges(wholes(before), wholes(after), () => '').filter(({ kind, subject }) => kind === 'changed' && !others.has(subject));
  if (types.length === 0) return [];
  return [
    {
      kind: 'changed',
      subject: 'defaults of items',
      detail: `${types.length} types differ only in the zero value that is shown as default of the items of their lists and maps`,
    },
  ];
}

interface SchemaOptions {
  readonly enumerations: boolean;
  readonly itemDefaults: boolean;
}

const typesOf = ({ schemas }: FactSet, options: SchemaOptions): Types =>
  new Map([...schemas].filter(([name]) => !PER_DOCUMENT.test(name)).map(([name, schema]) => [name, fieldsOf(schema, options)]));

function fieldsOf({ properties = {}, required = [] }: OpenApiSchema, options: SchemaOptions): Table {
  const entries = Object.entries(properties).map(([name, property]) => {
    const kept = withoutNoise(property, options, false) as object;
    return [name, stable({ ...kept, ...(required.includes(name) && { required: true }) })] as const;
  });
  return new Map(entries);
}

/** `isItem`: the schema of a list's or a map's items. */
function withoutNoise(value: unknown, options: SchemaOptions, isItem: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNoise(item, options, false));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => (key !== 'enum' || options.enumerations) && (key !== 'default' || !isItem || options.itemDefaults));
  // A reference stands in allOf where it has siblings, of which its description may have been the only one.
  if (entries.length === 1 && entries[0]![0] === 'allOf') return (entries[0]![1] as unknown[])[0];
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutNoise(inner, options, key === 'items' || key === 'additionalProperties')]));
}
