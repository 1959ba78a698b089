import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { Random } from '../../util/test-random.ts';
import { hasPath, leavesOf } from './field-set.ts';
import { type Managers, NO_MANAGERS, encodeManagers } from './managers.ts';
import { mergeObjects } from './merge.ts';
import { ownersAfterApply, ownersAfterUpdate } from './own.ts';
import { extractFields } from './test-extract.ts';
import { ONE_VERSION, THING, thing, tidy } from './test-type.ts';
import { OwnershipConflicts } from './updater.ts';

const INTERLEAVINGS = 10_000;
const STEPS = 8;
const APPLIERS = ['a1', 'a2', 'a3'];
const UPDATERS = ['u1', 'u2'];

/**
 * The naive model knows an object as a flat table: leaves by their paths, each with a value and its owners. An item of the list is a leaf too (`items/x`),
 * and what it holds goes with it.
 */
type Leaves = Map<string, Json>;

const PATHS: Record<string, string[]> = {
  count: ['f:count'],
  text: ['f:text'],
  steps: ['f:steps'],
  'inner/a': ['f:inner', 'f:a'],
  'labels/k': ['f:metadata', 'f:labels', 'f:k'],
  'labels/l': ['f:metadata', 'f:labels', 'f:l'],
  'tags/t': ['f:tags', 'v:"t"'],
  'tags/s': ['f:tags', 'v:"s"'],
  'items/x': ['f:items', 'k:{"name":"x"}'],
  'items/x/value': ['f:items', 'k:{"name":"x"}', 'f:value'],
  'items/y': ['f:items', 'k:{"name":"y"}'],
  'items/y/value': ['f:items', 'k:{"name":"y"}', 'f:value'],
};

const itemOf = (path: string): string | undefined => /^(items\/\w+)\//.exec(path)?.[1];

function randomLeaves(random: Random): Leaves {
  const leaves: Leaves = new Map();
  for (const path of Object.keys(PATHS)) {
    if (random.below(2) === 0) continue;
    const item = itemOf(path);
    if (item !== undefined && !leaves.has(item)) continue;
    const isNamed = path.startsWith('tags/') || /^items\/\w+$/.test(path);
    leaves.set(path, isNamed ? true : path === 'count' ? 1 + random.below(2) : path === 'steps' ? [String(random.below(2))] : String(random.below(2)));
  }
  return leaves;
}

/** Beside what the model knows, every object has something in each map and list that nobody touches: who made the map itself is not the model's matter. */
const BASE: JsonObject = { inner: { b: 'base' }, metadata: { labels: { base: '1' } }, items: [{ name: 'base' }], tags: ['base'] };

const wholeObjectOf = (leaves: Leaves): JsonObject => mergeObjects(THING, BASE, objectOf(leaves));

function objectOf(leaves: Leaves): JsonObject {
  const group = (name: string): JsonObject =>
    Object.fromEntries([...leaves].filter(([path]) => path.startsWith(`${name}/`)).map(([path, value]) => [path.split('/')[1]!, value]));
  const items = ['x', 'y'].filter((name) => leaves.has(`items/${name}`)).map((name) => ({ name, value: leaves.get(`items/${name}/value`) }));
  return tidy({
    ...Object.fromEntries(['count', 'text', 'steps'].filter((name) => leaves.has(name)).map((name) => [name, leaves.get(name)!])),
    ...(Object.keys(group('inner')).length > 0 && { inner: group('inner') }),
    metadata: { labels: group('labels') },
    items,
    tags: Object.keys(group('tags')),
  });
}

class Model {
  readonly leaves: Leaves = new Map();
  readonly owners = new Map<string, Set<string>>();

  update(manager: string, next: Leaves): void {
    for (const path of this.leaves.keys()) if (!next.has(path)) this.remove(path);
    for (const [path, value] of next) {
      if (JSON.stringify(this.leaves.get(path)) !== JSON.stringify(value)) this.owners.set(path, new Set([manager]));
      this.leaves.set(path, value);
    }
  }

  isConflict(manager: string, config: Leaves): boolean {
    return [...config].some(([path, value]) => this.isOther(path, value) && [...(this.owners.get(path) ?? [])].some((owner) => owner !== manager));
  }

  isOther(path: string, value: Json): boolean {
    return this.leaves.has(path) && JSON.stringify(this.leaves.get(path)) !== JSON.stringify(value);
  }

  apply(manager: string, config: Leaves): void {
    for (const [path, owners] of this.owners) {
      if (config.has(path) || !owners.delete(manager)) continue;
      if (owners.size === 0) this.remove(path);
    }
    for (const [path, value] of config) {
      if (this.isOther(path, value)) this.owners.set(path, new Set());
      this.leaves.set(path, value);
      this.owners.set(path, (this.owners.get(path) ?? new Set()).add(manager));
    }
  }

  remove(path: string): void {
    for (const other of this.leaves.keys()) {
      if (other !== path && !other.startsWith(`${path}/`)) continue;
      this.leaves.delete(other);
      this.owners.delete(other);
    }
  }
}

/** The real thing, behind the same few words. */
class Real {
  object: JsonObject = tidy({});
  managers: Managers = NO_MANAGERS;

  constructor() {
    this.update('base', BASE);
  }

  update(name: string, next: JsonObject): void {
    this.managers = ownersAfterUpdate(ONE_VERSION, thing(this.object), thing(next), this.managers, this.writer(name));
    this.object = next;
  }
  /** False on a conflict, which leaves everything as it was. */
  apply(name: string, config: JsonObject, force: boolean): boolean {
    try {
      const { object, managers } = ownersAfterApply(ONE_VERSION, thing(this.object), thing(config), this.managers, this.writer(name), force);
      this.managers = managers;
      if (object) this.object = tidy(object.value);
      return true;
    } catch (error) {
      if (error instanceof OwnershipConflicts) return false;
      throw error;
    }
  }
  ownersOf(path: readonly string[]): string[] {
    return [...this.managers.values()].filter(({ fields }) => hasPath(fields, path)).map(({ name }) => name);
  }
  writer(name: string) {
    return { name, apiVersion: 'v1', subresource: '', time: '2026-01-01T00:00:00Z' };
  }
}

function applyBoth(real: Real, model: Model, manager: string, random: Random): void {
  const config = randomLeaves(random);
  const force = random.below(2) === 0;
  const isRefused = !force && model.isConflict(manager, config);
  if (real.apply(manager, objectOf(config), force) === isRefused) throw new Error(`${manager} was ${isRefused ? 'not ' : ''}refused`);
  if (!isRefused) model.apply(manager, config);
}

/** Updaters change an object that they have read: here and there. */
function updateBoth(real: Real, model: Model, manager: string, random: Random): void {
  const next: Leaves = new Map(model.leaves);
  const wanted = randomLeaves(random);
  for (const path of Object.keys(PATHS)) {
    if (random.below(3) > 0) continue;
    if (wanted.has(path)) next.set(path, wanted.get(path)!);
    else next.delete(path);
  }
  for (const path of next.keys()) if (itemOf(path) !== undefined && !next.has(itemOf(path)!)) next.delete(path);
  model.update(manager, next);
  real.update(manager, wholeObjectOf(next));
}

interface Seen {
  object: JsonObject;
  owners: Record<string, string[]>;
}

/** The order of items is not the model's matter. */
function inModelOrder(object: JsonObject): JsonObject {
  const items = (object['items'] as { name: string }[]).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return tidy({ ...object, items, tags: (object['tags'] as string[]).toSorted() } as unknown as JsonObject);
}

const seenBy = (object: JsonObject, ownersOf: (path: string) => string[]): Seen => ({
  object: inModelOrder(object),
  owners: Object.fromEntries(Object.keys(PATHS).map((path) => [path, ownersOf(path).toSorted()])),
});

/** Where the two differ: both, to be shown. */
function differenceOf(real: Real, model: Model, seed: number): { seed: number; actual: Seen; expected: Seen } | undefined {
  const [actual, expected] = [
    seenBy(real.object, (path) => real.ownersOf(PATHS[path]!)),
    seenBy(wholeObjectOf(model.leaves), (path) => [...(model.owners.get(path) ?? [])]),
  ];
  return JSON.stringify(actual) === JSON.stringify(expected) ? undefined : { seed, actual, expected };
}

describe('ownership', () => {
  test(`is as a naive model has it, over ${INTERLEAVINGS} interleavings of three appliers and two updaters`, { timeout: 120_000 }, () => {
    const differences: object[] = [];
    for (let seed = 1; seed <= INTERLEAVINGS; seed++) {
      const random = new Random(seed);
      const [real, model] = [new Real(), new Model()];
      for (let step = 0; step < STEPS; step++) {
        const who = random.below(APPLIERS.length + UPDATERS.length);
        if (who < APPLIERS.length) applyBoth(real, model, APPLIERS[who]!, random);
        else updateBoth(real, model, UPDATERS[who - APPLIERS.length]!, random);
      }
      const difference = differenceOf(real, model, seed);
      if (difference !== undefined) differences.push(difference);
    }
    expect(differences).toEqual([]);
  });

  test('applying the same twice changes nothing', () => {
    for (let seed = 1; seed <= 1000; seed++) {
      const random = new Random(seed);
      const real = new Real();
      real.update('u1', wholeObjectOf(randomLeaves(random)));
      const config = objectOf(randomLeaves(random));
      real.apply('a1', config, true);
      const [object, entries] = [real.object, encodeManagers(real.managers)];
      real.apply('a1', config, random.below(2) === 0);
      expect([real.object, encodeManagers(real.managers)]).toEqual([object, entries]);
    }
  });

  test('applying what was extracted is the identity', () => {
    for (let seed = 1; seed <= 1000; seed++) {
      const random = new Random(seed);
      const real = new Real();
      for (const applier of APPLIERS) real.apply(applier, objectOf(randomLeaves(random)), true);
      real.update('u1', wholeObjectOf(randomLeaves(random)));
      for (const { name, operation, fields } of real.managers.values()) {
        if (operation === 'Update') continue;
        const [object, entries] = [real.object, encodeManagers(real.managers)];
        expect(real.apply(name, extractFields(THING, object, leavesOf(fields)), false)).toBe(true);
        expect([real.object, encodeManagers(real.managers)], `seed ${seed}`).toEqual([object, entries]);
      }
    }
  });
});
