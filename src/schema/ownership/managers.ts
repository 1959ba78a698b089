import { quote } from '../../util/go-quote.ts';
import { stringifyJson } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { type FieldSet, inOrder, parseFieldSet } from './field-set.ts';
import { compareText } from './path-element.ts';
import { type Steps, inStep } from '../../util/pending.ts';

export type Operation = 'Apply' | 'Update';

/** Whoever owns fields, in one way of owning them. */
export interface Manager {
  readonly name: string;
  readonly operation: Operation;
  readonly subresource: string;
  /** The version in which `fields` are told. */
  readonly apiVersion: string;
  readonly fields: FieldSet;
  /** When they last changed something, in whole seconds; absent where nobody knows. */
  readonly time: string | undefined;
}

/**
 * The owners of an object's fields by their identity. Appliers are the same in every version; updaters in another version are others.
 * Copied before it is changed: the ones of a stored object are shared.
 */
export type Managers = ReadonlyMap<string, Manager>;
export type ManagersDraft = Map<string, Manager>;

export const NO_MANAGERS: Managers = new Map();

/** Upstream's text, since messages and the cap sort by it (BuildManagerIdentifier). */
export function identityOf({ name, operation, apiVersion, subresource }: Pick<Manager, 'name' | 'operation' | 'apiVersion' | 'subresource'>): string {
  const identity: JsonObject = name === '' ? { operation } : { manager: name, operation };
  if (operation === 'Update') identity['apiVersion'] = apiVersion;
  if (subresource !== '') identity['subresource'] = subresource;
  return stringifyJson(identity);
}

/** managedFields that cannot be understood. */
export class ManagedFieldsError extends Error {}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** What a client sent as managedFields. Throws ManagedFieldsError. */
export const decodeManagers = (entries: readonly JsonObject[]): Managers => managersFrom(entries, parseFields);

const known = new WeakMap<readonly JsonObject[], Managers>();
/** As they are stored, for managers that nothing happens to. */
const storedEntries = new WeakMap<Manager, JsonObject>();

/** Those of a stored object, which were written by `encodeManagers`: read once, and not checked again. */
export function storedManagers(entries: readonly JsonObject[] | undefined): Managers {
  if (entries === undefined) return NO_MANAGERS;
  let managers = known.get(entries);
  if (managers === undefined) {
    managers = managersFrom(entries, (fields) => (fields ?? {}) as unknown as FieldSet);
    for (const [index, manager] of [...managers.values()].entries()) if (managers.size === entries.length) storedEntries.set(manager, entries[index]!);
    known.set(entries, managers);
  }
  return managers;
}

function managersFrom(entries: readonly JsonObject[], readFields: (fields: Json | undefined) => FieldSet): Managers {
  const managers: ManagersDraft = new Map();
  for (const [index, entry] of entries.entries()) {
    const manager = checkedManager(entry, index, readFields);
    managers.set(identityOf(manager), manager);
  }
  return managers;
}

function checkedManager(entry: JsonObject, index: number, readFields: (fields: Json | undefined) => FieldSet): Manager {
  const { operation, apiVersion, fieldsType } = entry;
  if (operation !== 'Apply' && operation !== 'Update') throw new ManagedFieldsError('operation must be `Apply` or `Update`');
  if (!apiVersion) throw new ManagedFieldsError('apiVersion must not be empty');
  if (!fieldsType) throw new ManagedFieldsError(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== 'FieldsV1') throw new ManagedFieldsError(`invalid fieldsType ${quote(String(fieldsType))} in managed fields entry ${index}`);
  return {
    name: textOf(entry['manager']),
    operation,
    subresource: textOf(entry['subresource']),
    apiVersion: textOf(apiVersion),
    fields: readFields(entry['fieldsV1']),
    time: textOf(entry['time']) || undefined,
  };
}

function parseFields(fields: Json | undefined): FieldSet {
  try {
    return parseFieldSet(fields);
  } catch (error) {
    throw new ManagedFieldsError(`error decoding versioned set: error decoding set: ${(error as Error).message}`);
  }
}

/** As the object has them: undefined where there are none. */
export function encodeManagers(managers: Managers, steps?: Steps): JsonObject[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].toSorted(compareManagers).map((manager) => storedEntries.get(manager) ?? inStep(steps, () => encodeManager(manager)));
}

export function encodeManager({ name, operation, apiVersion, time, fields, subresource }: Manager): JsonObject {
  const entry: JsonObject = name === '' ? { operation, apiVersion } : { manager: name, operation, apiVersion };
  if (time !== undefined) entry['time'] = time;
  entry['fieldsType'] = 'FieldsV1';
  entry['fieldsV1'] = inOrder(fields) as unknown as JsonObject;
  if (subresource !== '') entry['subresource'] = subresource;
  return entry;
}

/** Appliers first, then by time (sortEncodedManagedFields). Times in whole seconds sort as their texts do; who has none is oldest. */
function compareManagers(a: Manager, b: Manager): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.name, b.name) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}
