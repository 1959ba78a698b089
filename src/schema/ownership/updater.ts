import { equalJson } from '../../encoding/json-equal.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { type Steps, inStep } from '../../util/pending.ts';
import { type Comparison, compareObjects, isSame } from './compare.ts';
import { type FieldSet, difference, intersection, isEmpty, pathsOf, union } from './field-set.ts';
import { fieldsOf } from './fields-of.ts';
import type { Manager, Managers, ManagersDraft } from './managers.ts';
import { mergeObjects } from './merge.ts';
import { type PathElement } from './path-element.ts';
import { removeFields } from './remove.ts';
import { reconciled, withNamedFields } from './schema-aware-sets.ts';
import type { TypePlan } from './type-plan.ts';

export interface Versioned {
  readonly apiVersion: string;
  readonly plan: TypePlan;
  readonly value: JsonObject;
  /** Objects of the value in which a list or map was sent empty. */
  readonly emptied?: ReadonlySet<object>;
}

/** How the kind at hand looks in its versions, and what may not be owned in them. */
export interface Versions {
  /** Undefined where that version is not served (any more): what was owned in it is owned by nobody. */
  planOf(apiVersion: string): TypePlan | undefined;
  /** To a version that `planOf` knows. `failure` is what an error begins with. */
  convert(object: Versioned, apiVersion: string, failure: string): Versioned;
  /** Whether the live object must be one of every owner's version, or nothing is done (merge.Updater.reconcileManagedFieldsWithSchemaChanges). */
  readonly demandsEveryVersion?: true;
  /** The fields of that version without those that this way of writing resets anyway. */
  ownable(fields: FieldSet, apiVersion: string): FieldSet;
}

/** Fields that an applier wants otherwise than their owners have them, by the owner's identity. */
export class OwnershipConflicts extends Error {
  readonly conflicts: readonly Conflict[];
  constructor(conflicts: readonly Conflict[]) {
    super('conflicts');
    this.conflicts = conflicts;
  }
}

export interface Conflict {
  readonly identity: string;
  readonly manager: Manager;
  readonly path: readonly PathElement[];
}

/**
 * The owners after an object was changed by whatever means: who changed a field has it, all others lose it (merge.Updater.Update). `changed` is what
 * the writer has come to own, undefined for nothing.
 */
export function ownersAfterChange(
  versions: Versions,
  before: Versioned,
  after: Versioned,
  managers: Managers,
  steps?: Steps,
): { managers: ManagersDraft; changed: FieldSet | undefined } {
  const comparison = inStep(steps, () => comparedIn(versions, before, after));
  const current = reconciledManagers(versions, before, managers, steps);
  if (isSettled(versions, comparison)) return { managers: withoutEmpty(current), changed: undefined };
  const left = afterChange({ versions, before, after, comparison, steps }, current, undefined, true);
  const changed = inStep(steps, () => union(comparison.modified, comparison.added));
  return { managers: left, changed: isEmpty(changed) ? undefined : changed };
}

export interface Application {
  readonly managers: ManagersDraft;
  /** Undefined where the live object is already as it was applied. */
  readonly object: Versioned | undefined;
}

/**
 * The live object with the applied one merged into it and without what its manager applied before and does not any more, and the owners of it all
 * (merge.Updater.Apply). Throws OwnershipConflicts unless forced.
 */
export function applyObject(
  versions: Versions,
  live: Versioned,
  applied: Versioned,
  managers: Managers,
  self: { identity: string; manager: Omit<Manager, 'fields'> },
  force: boolean,
  steps?: Steps,
): Application {
  const current = reconciledManagers(versions, live, managers, steps);
  const merged: Versioned = { ...live, value: inStep(steps, () => mergeObjects(live.plan, live.value, applied.value)) };
  const fields = inStep(steps, () => versions.ownable(fieldsOf(applied.plan, applied.value), applied.apiVersion));
  const last = current.get(self.identity);
  current.set(self.identity, { ...self.manager, fields });
  const object = last === undefined ? merged : inStep(steps, () => pruned({ versions, managers: current, fields }, merged, last));
  const comparison = inStep(steps, () => comparedIn(versions, live, object));
  const left = isSettled(versions, comparison)
    ? withoutEmpty(current)
    : afterChange({ versions, before: live, after: object, comparison, steps }, current, self.identity, force);
  return { managers: left, object: inStep(steps, () => equalJson(live.value, object.value)) ? undefined : object };
}

/** Nothing that can be owned has changed. Where conversion may fail, it must be tried all the same: what cannot be owned may not be there in every version. */
const isSettled = ({ demandsEveryVersion }: Versions, comparison: Comparison): boolean => isSame(comparison) && !demandsEveryVersion;

function comparedIn(versions: Versions, before: Versioned, after: Versioned): Comparison {
  const { removed, modified, added } = compareObjects(before.plan, before.value, after.value, after.emptied);
  const ownable = (fields: FieldSet): FieldSet => (isEmpty(fields) ? fields : versions.ownable(fields, before.apiVersion));
  return { removed: ownable(removed), modified: ownable(modified), added: ownable(added) };
}

function reconciledManagers(versions: Versions, live: Versioned, managers: Managers, steps: Steps | undefined): ManagersDraft {
  const current: ManagersDraft = new Map();
  for (const [identity, manager] of managers) {
    const plan = versions.planOf(manager.apiVersion);
    if (plan === undefined) continue;
    if (versions.demandsEveryVersion) inVersion(versions, live, manager.apiVersion, '');
    const fields = inStep(steps, () => reconciled(manager.fields, plan));
    current.set(identity, fields === manager.fields ? manager : { ...manager, fields });
  }
  return current;
}

interface Change {
  readonly versions: Versions;
  readonly before: Versioned;
  readonly after: Versioned;
  /** In the version of `before` and `after`. */
  readonly comparison: Comparison;
  readonly steps: Steps | undefined;
}

/** What a change means to owners in one version. */
interface Effect {
  /** What the writer has taken, or made. */
  readonly written: FieldSet;
  readonly removed: FieldSet;
}

const effectOf = ({ modified, added, removed }: Comparison): Effect => ({ written: union(modified, added), removed });

/** All others lose what was changed or removed; unless forced, changing what they own is a conflict. */
function afterChange(change: Change, managers: ManagersDraft, self: string | undefined, force: boolean): ManagersDraft {
  const { steps } = change;
  const effects = new Map([[change.before.apiVersion, inStep(steps, () => effectOf(change.comparison))]]);
  const conflicts: Conflict[] = [];
  for (const [identity, manager] of managers) {
    if (identity === self) continue;
    const { written, removed } = effectFor(change, effects, manager.apiVersion);
    const taken = inStep(steps, () => intersection(manager.fields, written));
    if (!force) for (const path of pathsOf(taken)) conflicts.push({ identity, manager, path });
    if (isEmpty(taken) && isEmpty(removed)) continue;
    managers.set(identity, { ...manager, fields: inStep(steps, () => difference(difference(manager.fields, taken), removed)) });
  }
  if (conflicts.length > 0) throw new OwnershipConflicts(conflicts);
  return withoutEmpty(managers);
}

function effectFor({ versions, before, after, steps }: Change, effects: Map<string, Effect>, apiVersion: string): Effect {
  const known = effects.get(apiVersion);
  if (known !== undefined) return known;
  const effect = inStep(steps, () => {
    const old = versions.convert(before, apiVersion, 'failed to convert old object');
    return effectOf(comparedIn(versions, old, versions.convert(after, apiVersion, 'failed to convert new object')));
  });
  effects.set(apiVersion, effect);
  return effect;
}

function withoutEmpty(managers: ManagersDraft): ManagersDraft {
  for (const [identity, manager] of managers) if (isEmpty(manager.fields)) managers.delete(identity);
  return managers;
}

interface Pruning {
  readonly versions: Versions;
  /** With what the applier applies now. */
  readonly managers: Managers;
  readonly fields: FieldSet;
}

/** Without what the manager applied last and not now, unless someone else owns it too (merge.Updater.prune). */
function pruned(pruning: Pruning, merged: Versioned, last: Manager): Versioned {
  const { versions, fields } = pruning;
  if (isEmpty(last.fields) || (last.apiVersion === merged.apiVersion && isEmpty(difference(last.fields, fields)))) return merged;
  const base = inVersion(versions, merged, last.apiVersion, `${PRUNING}: failed to convert merged object to last applied version`);
  const { plan } = base;
  const lastFields = withNamedFields(last.fields, plan);
  const cut = ownedAddedBack(pruning, base, { ...base, value: removeFields(plan, base.value, lastFields) });
  // Only what the manager itself had owned may go: the rest belongs to nobody, or came with it.
  const gone = difference(
    allFields(base),
    allFields(inVersion(versions, cut, base.apiVersion, `${PRUNING}: failed add back dangling items: failed to convert pruned object to last applied version`)),
  );
  const result = { ...base, value: removeFields(plan, base.value, intersection(gone, lastFields)) };
  return inVersion(versions, result, merged.apiVersion, PRUNING);
}

const PRUNING = 'failed to prune fields';

const inVersion = (versions: Versions, object: Versioned, apiVersion: string, failure: string): Versioned =>
  object.apiVersion === apiVersion ? object : versions.convert(object, apiVersion, failure);

const allFields = ({ plan, value }: Versioned): FieldSet => withNamedFields(fieldsOf(plan, value), plan);

/** What anybody owns stays, in whatever version it is owned; the version that was cut comes first, since others may not exist without what it has. */
function ownedAddedBack({ versions, managers }: Pruning, merged: Versioned, cut: Versioned): Versioned {
  const byVersion = new Map<string, FieldSet>([[merged.apiVersion, {}]]);
  for (const { apiVersion, fields } of managers.values()) byVersion.set(apiVersion, union(byVersion.get(apiVersion) ?? {}, fields));
  let [whole, rest] = [merged, cut];
  for (const [apiVersion, owned] of byVersion) {
    const failed = (what: string): string => `${PRUNING}: failed add back owned items: failed to convert ${what} object at version ${apiVersion}`;
    whole = inVersion(versions, whole, apiVersion, failed('merged'));
    rest = inVersion(versions, rest, apiVersion, failed('pruned'));
    const stays = union(allFields(rest), withNamedFields(owned, whole.plan));
    rest = { ...whole, value: removeFields(whole.plan, whole.value, difference(allFields(whole), stays)) };
  }
  return rest;
}
