import { EMPTY, type FieldSet, difference, inOrder, isEmpty, setOf, union } from './field-set.ts';
import { capUpdaters } from './cap-managers.ts';
import { checkItems } from './count-items.ts';
import { type Manager, type Managers, type ManagersDraft, NO_MANAGERS, identityOf } from './managers.ts';
import { fieldElement } from './path-element.ts';
import { type Steps, inStep } from '../../util/pending.ts';
import { ShapeMemory } from './shape-memory.ts';
import { MAX_SHAPE_LENGTH, shapeOf } from './shape.ts';
import { type Application, type Versioned, type Versions, applyObject, ownersAfterChange } from './updater.ts';

/** What the server decides, and nobody owns (managedfields/internal/stripmeta.go). */
const SYSTEM_FIELDS = setOf(
  ...[['apiVersion'], ['kind'], ['metadata']].map((path) => path.map(fieldElement)),
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion'].map((name) =>
    ['metadata', name].map(fieldElement),
  ),
);

/** Who writes, and through what. */
export interface FieldWriter {
  readonly name: string;
  readonly apiVersion: string;
  readonly subresource: string;
  /** Now, in whole seconds. */
  readonly time: string;
}

const asManager = ({ name, apiVersion, subresource, time }: FieldWriter, operation: Manager['operation'], fields: FieldSet): Manager => ({
  name: name || 'unknown',
  operation,
  subresource,
  apiVersion,
  fields,
  time,
});

/** The owners after a write by any other means than applying. */
export function ownersAfterUpdate(versions: Versions, before: Versioned, after: Versioned, managers: Managers, writer: FieldWriter, steps?: Steps): Managers {
  inStep(steps, () => checkItems(after.plan, after.value));
  const { managers: left, changed } = ownersAfterChange(versions, before, after, managers, steps);
  const taken = changed === undefined ? undefined : inStep(steps, () => difference(changed, SYSTEM_FIELDS));
  if (taken !== undefined && !isEmpty(taken)) {
    const self = asManager(writer, 'Update', taken);
    const identity = identityOf(self);
    const previous = left.get(identity);
    left.set(identity, previous === undefined ? self : { ...self, fields: inStep(steps, () => union(taken, previous.fields)) });
  }
  capUpdaters(left);
  return left;
}

const fieldsByShape = new ShapeMemory();

/** The one owner of what is new; undefined where there is nothing to own. */
export function ownerOfNew(versions: Versions, nothing: Versioned, created: Versioned, writer: FieldWriter, steps?: Steps): Manager | undefined {
  const fields = fieldsOfNew(versions, nothing, created, steps);
  return isEmpty(fields) ? undefined : asManager(writer, 'Update', fields);
}

function fieldsOfNew(versions: Versions, nothing: Versioned, created: Versioned, steps: Steps | undefined): FieldSet {
  const shape = inStep(steps, () => created.apiVersion + shapeOf(created.plan, nothing.value, created.value));
  const isKept = shape.length <= MAX_SHAPE_LENGTH;
  // A step too: while others have their turn, one of them may make what is not known yet.
  let fields = inStep(steps, () => (isKept ? fieldsByShape.get(versions, shape) : undefined));
  if (fields !== undefined) return fields;
  inStep(steps, () => checkItems(created.plan, created.value));
  const { changed = EMPTY } = ownersAfterChange(versions, nothing, created, NO_MANAGERS, steps);
  fields = inStep(steps, () => inOrder(difference(changed, SYSTEM_FIELDS)));
  if (isKept) fieldsByShape.set(versions, shape, fields);
  return fields;
}

/** See `applyObject`. The applier's time moves only when the object changes. Items of what is applied have been counted (checkItems). */
export function ownersAfterApply(
  versions: Versions,
  live: Versioned,
  applied: Versioned,
  managers: Managers,
  writer: FieldWriter,
  force: boolean,
  steps?: Steps,
): Application {
  const manager = asManager(writer, 'Apply', EMPTY);
  const identity = identityOf(manager);
  const { managers: left, object } = applyObject(versions, live, applied, managers, { identity, manager }, force, steps);
  const time = object === undefined ? managers.get(identity)?.time : writer.time;
  return { managers: settled(left, identity, time, steps), object };
}

function settled(managers: ManagersDraft, identity: string, time: string | undefined, steps: Steps | undefined): ManagersDraft {
  const self = managers.get(identity);
  if (self === undefined) return managers;
  const fields = inStep(steps, () => difference(self.fields, SYSTEM_FIELDS));
  if (isEmpty(fields)) managers.delete(identity);
  else managers.set(identity, { ...self, fields, time });
  return managers;
}
