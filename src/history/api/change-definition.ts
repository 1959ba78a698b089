import type { ApiObject } from '../../api/api-object.ts';
import type { Json } from '../../encoding/json-types.ts';
import type { Column, ResourceDefinition, Selectable } from '../../registry/definition.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import { customType } from '../../schema/structural/custom-type.ts';
import type { JsonSchema } from '../../schema/structural/json-schema.ts';
import { Structure } from '../../schema/structural/structure.ts';

export const HISTORY_GROUP = 'history.binnacle.dev';
export const HISTORY_VERSION = 'v1alpha1';
export const HISTORY_API_VERSION = `${HISTORY_GROUP}/${HISTORY_VERSION}`;

/** One change of one object, as clients see it. */
export interface Change extends ApiObject {
  object: { group: string; version: string; resource: string; kind: string; namespace?: string; name: string; uid?: string };
  time: string;
  type: 'created' | 'modified' | 'deleted';
  verb?: string;
  subresource?: string;
  user?: { username: string; groups?: readonly string[] };
  impersonator?: { username: string };
  userAgent?: string;
  fieldManager?: string;
  auditID?: string;
  objectResourceVersion: string;
  previousResourceVersion?: string;
  fields: readonly { path: string; from?: Json; to?: Json }[];
}

/** As it is shown by `kubectl explain`. */
interface DescribedSchema extends Omit<JsonSchema, 'properties' | 'items'> {
  description?: string;
  properties?: Record<string, DescribedSchema>;
  items?: DescribedSchema;
}

const text = (description: string): DescribedSchema => ({ type: 'string', description });
const username = (description: string): DescribedSchema => ({
  type: 'object',
  description,
  required: ['username'],
  properties: { username: text('Its name.') },
});
const anything = (description: string): DescribedSchema => ({ description, 'x-kubernetes-preserve-unknown-fields': true });

const SCHEMA: DescribedSchema = {
  type: 'object',
  description: 'Change is a write of one object that this server has committed: who made it, when, and what became another. Changes are only read.',
  required: ['object', 'time', 'type', 'objectResourceVersion'],
  properties: {
    object: {
      type: 'object',
      description: 'What was changed.',
      required: ['resource', 'name'],
      properties: {
        group: text('The API group; empty for the core group.'),
        version: text('The version in which the object is stored.'),
        resource: text('The plural name of the resource.'),
        kind: text('The kind of the object.'),
        namespace: text('The namespace of the object; empty where it belongs to none.'),
        name: text('The name of the object.'),
        uid: text('The uid of the object.'),
      },
    },
    time: { ...text('When the change was committed.'), format: 'date-time' },
    type: text('What happened to the object: created, modified or deleted.'),
    verb: text('The verb of the request: create, update, patch, apply, delete or deletecollection. Empty where no request of this server made the change.'),
    subresource: text('The subresource that was written through; empty for the object itself.'),
    user: {
      ...username('Who made the change. Absent where that is not known: the store removed what had expired, or another server wrote it.'),
      properties: { username: text('The name of the user.'), groups: { type: 'array', description: 'The groups of the user.', items: { type: 'string' } } },
    },
    impersonator: username('Who was authenticated, where the user was impersonated.'),
    userAgent: text("The client's User-Agent."),
    fieldManager: text('The field manager that the request named, or the one that was made of its User-Agent.'),
    auditID: text('The id of the request in the audit log.'),
    objectResourceVersion: text("The object's resourceVersion after the change; of a deletion, the deletion's."),
    previousResourceVersion: text("The object's resourceVersion before the change; empty where it was created."),
    fields: {
      type: 'array',
      description: 'The fields that became others, but for those that every write changes.',
      items: {
        type: 'object',
        required: ['path'],
        properties: {
          path: text('Where the field is: spec.template.spec.containers[0].image.'),
          from: anything('The value before; absent where there was none.'),
          to: anything('The value after; absent where there is none.'),
        },
      },
    },
  },
};

const ofChange =
  <T>(read: (change: Change) => T) =>
  (object: ApiObject): T =>
    read(object as Change);

/** By which changes may be selected beyond name and namespace. */
export const SELECTABLE: Selectable = {
  'object.group': ofChange(({ object }) => object.group),
  'object.resource': ofChange(({ object }) => object.resource),
  'object.kind': ofChange(({ object }) => object.kind),
  'object.namespace': ofChange(({ object }) => object.namespace ?? ''),
  'object.name': ofChange(({ object }) => object.name),
  'object.uid': ofChange(({ object }) => object.uid ?? ''),
  'user.username': ofChange(({ user }) => user?.username ?? ''),
  userAgent: ofChange(({ userAgent }) => userAgent ?? ''),
  fieldManager: ofChange(({ fieldManager }) => fieldManager ?? ''),
  verb: ofChange(({ verb }) => verb ?? ''),
  subresource: ofChange(({ subresource }) => subresource ?? ''),
  type: ofChange(({ type }) => type),
  auditID: ofChange(({ auditID }) => auditID ?? ''),
};

/** `deployment.apps/web` */
const objectCell = ({ object }: Change): string => `${object.kind.toLowerCase()}${object.group === '' ? '' : `.${object.group}`}/${object.name}`;

const CELL_CHARACTERS = 100;

function changedCell({ type, fields }: Change): string {
  if (type !== 'modified') return type;
  const told = fields
    .slice(0, CELL_CHARACTERS)
    .map(({ path, from, to }) => `${path}: ${valueText(from)} → ${valueText(to)}`)
    .join(', ');
  return told.length > CELL_CHARACTERS ? `${told.slice(0, CELL_CHARACTERS)}…` : told;
}

const valueText = (value: Json | undefined): string => (value === undefined ? '-' : JSON.stringify(value).slice(0, CELL_CHARACTERS));

const column = (name: string, priority: number, description: string, cell: (change: Change) => string): Column => ({
  name,
  type: 'string',
  format: '',
  description,
  priority,
  cell: ofChange(cell),
});

const COLUMNS: readonly Column[] = [
  { ...column('Name', 0, 'The name of the change.', ({ metadata }) => metadata.name ?? ''), format: 'name' },
  column('Time', 0, 'When it was made.', ({ time }) => time),
  column('Object', 0, 'What was changed.', objectCell),
  column('Verb', 0, 'How.', ({ verb, subresource }) => (subresource ? `${verb ?? ''}/${subresource}` : (verb ?? ''))),
  column('User', 0, 'By whom.', ({ user }) => user?.username ?? '<unknown>'),
  column('Manager', 0, 'The field manager.', ({ fieldManager }) => fieldManager ?? ''),
  column('Changed', 0, 'What became another.', changedCell),
  column('User-Agent', 1, 'The client.', ({ userAgent }) => userAgent ?? ''),
  column('Audit-ID', 1, 'The id of the request.', ({ auditID }) => auditID ?? ''),
  column('Version', 1, "The object's resourceVersion after it.", ({ objectResourceVersion }) => objectResourceVersion),
];

/** `metadata`: the schema of ObjectMeta. */
export function changeDefinition(metadata: ObjectSchema): ResourceDefinition {
  const names = { group: HISTORY_GROUP, version: HISTORY_VERSION, kind: 'Change' };
  const schema = customType({
    ...names,
    name: 'dev.binnacle.history.v1alpha1.Change',
    selectableFields: Object.keys(SELECTABLE),
    structure: new Structure(SCHEMA as JsonSchema),
    metadata,
  });
  return {
    ...names,
    plural: 'changes',
    singular: 'change',
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: ['get', 'list', 'watch'],
    settings: { features: new Set(), allowsPrivileged: false },
    schema,
    served: [{ ...names, schema, selectable: SELECTABLE, columns: COLUMNS }],
    selectable: SELECTABLE,
    storage: { prefix: 'changes' },
    table: { columns: COLUMNS },
  };
}
