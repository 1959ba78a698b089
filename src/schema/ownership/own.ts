import { difference, isEmpty, setOf, union } from './field-set.ts';
import { capUpdaters } from './cap-managers.ts';
import { type Manager, type Managers, type ManagersDraft, identityOf } from './managers.ts';
import { fieldElement } from './path-element.ts';
import { type Application, type Versioned, type Versions, applyObject, ownersAfterChange } from './updater.ts';

/** What the server decides, and nobody owns (managedfields/internal/stripmeta.go). */
const SYSTEM_FIELDS = setOf(
  ...[['apiVersion'], ['kind'], ['metadata']].map((path) => path.map(fieldElement)),
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion'].map((name) =>
    ['metadata', name].map(fieldElement),
  ),
);

/** Who writes, and through what. */
export interface Writer {
  readonly name: string;
  readonly apiVersion: string;
  readonly subresource: string;
  /** Now, in whole seconds. */
  readonly time: string;
}

const asManager = ({ name, apiVersion, subresource, time }: Writer, operation: Manager['operation']): Omit<Manager, 'fields'> => ({
  name: name || 'unknown',
  operation,
  subresource,
  apiVersion,
  time,
});

/** The owners after a write by any other means than applying. */
export function ownersAfterUpdate(versions: Versions, before: Versioned, after: Versioned, managers: Managers, writer: Writer): Managers {
  const { managers: left, changed } = ownersAfterChange(versions, before, after, managers);
  const taken = changed === undefined ? undefined : difference(changed, SYSTEM_FIELDS);
  if (taken !== undefined && !isEmpty(taken)) {
    const self = asManager(writer, 'Update');
    const identity = identityOf(self);
    const previous = left.get(identity);
    left.set(identity, { ...self, fields: previous === undefined ? taken : union(taken, previous.fields) });
  }
  capUpdaters(left);
  return left;
}

/** See `applyObject`. The applier's time moves only when the object changes. */
export function ownersAfterApply(versions: Versions, live: Versioned, applied: Versioned, managers: Managers, writer: Writer, force: boolean): Application {
  const manager = asManager(writer, 'Apply');
  const identity = identityOf(manager);
  const { managers: left, object } = applyObject(versions, live, applied, managers, { identity, manager }, force);
  const time = object === undefined ? managers.get(identity)?.time : writer.time;
  return { managers: settled(left, identity, time), object };
}

function settled(managers: ManagersDraft, identity: string, time: string | undefined): ManagersDraft {
  const self = managers.get(identity);
  if (self === undefined) return managers;
  const fields = difference(self.fields, SYSTEM_FIELDS);
  if (isEmpty(fields)) managers.delete(identity);
  else managers.set(identity, { ...self, fields, time });
  return managers;
}
