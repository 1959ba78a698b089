import type { ApiObject, FieldsV1, ManagedFields } from '../api/objects.ts';
import type { LineOwner } from '../editor/owner-gutter.ts';
import { type FieldPath, linePaths } from './object-text.ts';

/** Somebody who set fields of an object, and when they did so last. */
export interface FieldOwner {
  manager: string;
  operation: string;
  subresource: string;
  time: string;
  fields: FieldsV1;
}

export const ownersOf = ({ metadata }: ApiObject): FieldOwner[] =>
  (metadata.managedFields ?? []).map(({ manager = '', operation = '', subresource = '', time = '', fieldsV1 = {} }: ManagedFields) => ({
    manager,
    operation,
    subresource,
    time,
    fields: fieldsV1,
  }));

/** Who owns a field: those whose set has it, or has something above it as a whole (an atomic list or map). */
export const ownersAt = (object: ApiObject, owners: readonly FieldOwner[], path: FieldPath): FieldOwner[] =>
  owners.filter(({ fields }) => owns(fields, object, path));

function owns(fields: FieldsV1, object: ApiObject, path: FieldPath): boolean {
  let set: FieldsV1 = fields;
  let value: unknown = object;
  for (const step of path) {
    const below: unknown = (value as Record<string | number, unknown> | null | undefined)?.[step];
    const next = typeof step === 'string' ? set[`f:${step}`] : memberOf(set, step, below);
    if (next === undefined) return false;
    if (isEmpty(next)) return true;
    set = next;
    value = below;
  }
  return '.' in set;
}

/** Items of lists are named by their keys, by their value, or by where they are (KEP-555, kubernetes-sigs/structured-merge-diff: fieldpath/serialize.go). */
function memberOf(set: FieldsV1, index: number, item: unknown): FieldsV1 | undefined {
  for (const [step, inner] of Object.entries(set)) {
    if (step.startsWith('k:') && hasKeys(item, JSON.parse(step.slice(2)) as Record<string, unknown>)) return inner;
    if (step.startsWith('v:') && step.slice(2) === JSON.stringify(item)) return inner;
    if (step === `i:${index}`) return inner;
  }
  return undefined;
}

const hasKeys = (item: unknown, keys: Record<string, unknown>): boolean =>
  typeof item === 'object' &&
  item !== null &&
  Object.entries(keys).every(([name, value]) => (item as Record<string, unknown>)[name] === value || isDefault(item, name, value));

/** A key that the object leaves out has its default: a port's protocol is the one that lists are keyed by. */
const isDefault = (item: object, name: string, value: unknown): boolean => !(name in item) && name === 'protocol' && value === 'TCP';

const isEmpty = (set: FieldsV1): boolean => Object.keys(set).length === 0;

const COLORS = 4;

/** Who owns which line of an object's text; the colours are those of the list beside it. */
export function lineOwnersOf(object: ApiObject, text: string): (LineOwner | undefined)[] {
  const owners = ownersOf(object);
  return linePaths(text).map((path) => {
    const found = path === undefined ? [] : ownersAt(object, owners, path);
    if (found.length === 0) return undefined;
    return {
      name: found.map(({ manager }) => manager).join(', '),
      title: found
        .map(({ manager, operation, subresource, time }) => `${manager}: ${operation}${subresource === '' ? '' : ` of ${subresource}`}, ${time}`)
        .join('\n'),
      color: owners.indexOf(found[0]!) % COLORS,
    };
  });
}
