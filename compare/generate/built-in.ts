import { SCENARIO } from '../placeholders.ts';
import { addDelete, addDeleteCollection } from './deletes.ts';
import type { Draft } from './draft.ts';
import { type Kind, isDryRunOnly, kinds } from './kinds.ts';
import { addGet, addList, addWatch } from './reads.ts';
import { addSubresource } from './subresources.ts';
import { addApply, addCreate, addPatch, addUpdate } from './writes.ts';

/* Scenarios of built-in kinds: one object or two, and what can be done with them. */

const NAMES = [SCENARIO, SCENARIO, SCENARIO, `${SCENARIO}-b`];

/** Nothing of it is kept: each request stands alone. */
function addDryRuns(draft: Draft, kind: Kind): void {
  for (let count = 4 + draft.random.below(6); count > 0; count--) {
    if (draft.random.chance(0.7)) addCreate(draft, kind, SCENARIO);
    else addApply(draft, kind, SCENARIO);
  }
}

function addAll(draft: Draft, kind: Kind, weights: { write: number; apply: number; patch: number; read: number; remove: number; sub: number }): void {
  const { random } = draft;
  if (isDryRunOnly(kind)) return addDryRuns(draft, kind);
  if (random.chance(0.85)) addCreate(draft, kind, SCENARIO, random.chance(0.8));
  const name = (): string => random.pick(NAMES);
  const { write, apply, patch, read, remove, sub } = weights;
  for (let count = 4 + random.below(14); count > 0; count--) {
    draft.choose([
      [write, () => addCreate(draft, kind, name())],
      [write, () => addUpdate(draft, kind, name())],
      [apply, () => addApply(draft, kind, name())],
      [patch, () => addPatch(draft, kind, name())],
      [sub, () => addSubresource(draft, kind, name()) || addPatch(draft, kind, name())],
      [read, () => addGet(draft, `${kind.collection}/${name()}`)],
      [read, () => addList(draft, kind)],
      [read / 3, () => addWatch(draft, kind)],
      [remove, () => addDelete(draft, `${kind.collection}/${name()}`)],
      [kind.facts.verbs.includes('deletecollection') ? remove / 3 : 0, () => addDeleteCollection(draft, kind)],
    ]);
  }
}

const NONE = { write: 0, apply: 0, patch: 0, read: 0, remove: 0, sub: 0 };

export const addWrites = (draft: Draft): void => addAll(draft, draft.random.pick(kinds()), { ...NONE, write: 5, sub: 2, remove: 0.5, read: 0.5 });
export const addApplies = (draft: Draft): void =>
  addAll(draft, draft.random.pick(kinds()), { ...NONE, apply: 8, write: 1, sub: 1, patch: 1, remove: 0.3, read: 0.3 });
export const addPatches = (draft: Draft): void =>
  addAll(draft, draft.random.pick(kinds()), { ...NONE, patch: 8, write: 0.5, apply: 0.5, remove: 0.3, read: 0.3 });
export const addReads = (draft: Draft): void => addAll(draft, draft.random.pick(kinds()), { ...NONE, read: 6, write: 2, patch: 1, remove: 0.6 });
export const addDeletes = (draft: Draft): void => addAll(draft, draft.random.pick(kinds()), { ...NONE, remove: 6, write: 3, patch: 1, read: 1 });
