import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../encoding/json-types.ts';
import { LIMITS } from '../../util/limits.ts';
import { conflictError } from './conflict-error.ts';
import { TooManyItems, checkItems } from './count-items.ts';
import { type Managers, NO_MANAGERS, decodeManagers, encodeManagers } from './managers.ts';
import { setOf } from './field-set.ts';
import { ownerOfNew, ownersAfterApply, ownersAfterUpdate } from './own.ts';
import { fieldElement } from './path-element.ts';
import { parentManagers, scaleManagers } from './scale-managers.ts';
import { ONE_VERSION, thing, tidy } from './test-type.ts';
import type { OwnershipConflicts, Versions } from './updater.ts';

/** An object with its owners, changed by one writer after another; a second passes with each. */
class World {
  object: JsonObject = {};
  managers: Managers = NO_MANAGERS;
  clock = 0;

  writer(name: string, subresource = '') {
    return { name, apiVersion: 'v1', subresource, time: `2026-01-01T00:00:${String(++this.clock).padStart(2, '0')}Z` };
  }
  update(name: string, object: JsonObject, subresource?: string): this {
    this.managers = ownersAfterUpdate(ONE_VERSION, thing(this.object), thing(object), this.managers, this.writer(name, subresource));
    this.object = object;
    return this;
  }
  apply(name: string, config: JsonObject, force = false): this {
    const { object, managers } = ownersAfterApply(ONE_VERSION, thing(this.object), thing(config), this.managers, this.writer(name), force);
    this.managers = managers;
    if (object) this.object = tidy(object.value);
    return this;
  }
  conflicts(name: string, config: JsonObject): string {
    try {
      this.apply(name, config);
      return '';
    } catch (error) {
      return conflictError((error as OwnershipConflicts).conflicts).message;
    }
  }
  get owners(): Record<string, unknown> {
    return Object.fromEntries(
      (encodeManagers(this.managers) ?? []).map((entry) => [`${String(entry['manager'])} ${String(entry['operation'])}`, entry['fieldsV1']]),
    );
  }
}

test("what cannot be owned is converted to owners' versions all the same, where that may fail", () => {
  const failing: Versions = {
    ...ONE_VERSION,
    planOf: () => thing({}).plan,
    ownable: () => ({}),
    convert: (object, _apiVersion, failure) => {
      if (object.value['flag'] === true) throw new Error(failure);
      return object;
    },
  };
  const owner = { name: 'o', apiVersion: 'v2', subresource: '', time: '2026-01-01T00:00:00Z' };
  const managers: Managers = new Map([['o', { ...owner, operation: 'Update', fields: setOf([fieldElement('text')]) }]]);
  const write = (versions: Versions): unknown => ownersAfterUpdate(versions, thing({ text: 'x' }), thing({ text: 'x', flag: true }), managers, owner);
  expect(() => write(failing)).not.toThrow();
  expect(() => write({ ...failing, demandsEveryVersion: true })).toThrow('failed to convert new object');
});

describe('applying', () => {
  test('what a manager stops applying goes, unless another owns it', () => {
    const world = new World().apply('a', { count: 1, text: 'x', items: [{ name: 'i', value: '1' }] }).apply('b', { text: 'x' });
    world.apply('a', { count: 1 });
    expect(world.object).toMatchObject({ count: 1, text: 'x' });
    expect(world.object).not.toHaveProperty('items');
    expect(world.owners).toEqual({ 'a Apply': { 'f:count': {} }, 'b Apply': { 'f:text': {} } });
  });

  test('another value is a conflict; by force it is taken', () => {
    const world = new World().apply('a', { count: 1 }).update('u', { count: 1, text: 'x' });
    expect(world.conflicts('b', { count: 2 })).toBe('Apply failed with 1 conflict: conflict with "a": .count');
    expect(world.conflicts('b', { count: 2, text: 'y' })).toBe(
      'Apply failed with 2 conflicts: conflicts with "a":\n- .count\nconflicts with "u" using v1:\n- .text',
    );
    world.apply('b', { count: 2 }, true);
    expect(world.owners).toEqual({ 'b Apply': { 'f:count': {} }, 'u Update': { 'f:text': {} } });
  });

  test('the same again changes nothing, not even the time', () => {
    const world = new World().apply('a', { count: 1, items: [{ name: 'x' }] });
    const before = encodeManagers(world.managers);
    world.apply('a', { count: 1, items: [{ name: 'x' }] });
    expect(encodeManagers(world.managers)).toEqual(before);
  });

  test('who owns nothing more is forgotten', () => {
    expect(new World().apply('a', { count: 1 }).apply('b', { text: 'x' }).apply('a', {}).owners).toEqual({ 'b Apply': { 'f:text': {} } });
  });

  test('an item stays while another applies it, with what that one applied', () => {
    const world = new World()
      .apply('a', { items: [{ name: 'x', value: '1' }] })
      .apply('b', { items: [{ name: 'x' }] })
      .apply('a', {});
    expect(world.object).toMatchObject({ items: [{ name: 'x' }] });
    expect(world.object).not.toMatchObject({ items: [{ value: '1' }] });
  });
});

describe('updating', () => {
  test('takes what it changes from all others', () => {
    const world = new World().apply('a', { count: 1, text: 'x' }).update('u', { count: 2, text: 'x' });
    expect(world.owners).toEqual({ 'a Apply': { 'f:text': {} }, 'u Update': { 'f:count': {} } });
  });

  test('adds to what the same manager owned, with a new time', () => {
    const world = new World().update('u', { count: 1 }).update('u', { count: 1, text: 'x' });
    expect(encodeManagers(world.managers)).toMatchObject([{ manager: 'u', time: '2026-01-01T00:00:02Z', fieldsV1: { 'f:count': {}, 'f:text': {} } }]);
  });

  test('through a subresource one is another manager', () => {
    const world = new World().update('u', { count: 1 }).update('u', { count: 1, text: 'x' }, 'status');
    expect(encodeManagers(world.managers)).toMatchObject([
      { manager: 'u', fieldsV1: { 'f:count': {} } },
      { manager: 'u', subresource: 'status', fieldsV1: { 'f:text': {} } },
    ]);
  });

  test('the eleventh manager makes the oldest two one', () => {
    const world = new World();
    for (let i = 0; i < 12; i++)
      world.update(`m${i}`, {
        ...world.object,
        metadata: { labels: { ...((world.object['metadata'] as JsonObject)?.['labels'] as JsonObject), [`l${i}`]: '1' } },
      });
    const names = (encodeManagers(world.managers) ?? []).map(({ manager }) => manager);
    expect(names).toEqual(['ancient-changes', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11']);
    expect(world.owners['ancient-changes Update']).toMatchObject({ 'f:metadata': { 'f:labels': { 'f:l0': {}, 'f:l1': {}, 'f:l2': {} } } });
  });

  test('entries of versions that are gone are dropped', () => {
    const world = new World().update('u', { count: 1 });
    world.managers = new Map([...world.managers].map(([id, manager]) => [id, { ...manager, apiVersion: 'v0' }]));
    expect(world.update('w', { count: 1, text: 'x' }).owners).toEqual({ 'w Update': { 'f:text': {} } });
  });
});

describe('managedFields', () => {
  const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:a': {} } };

  test.each([
    [{ ...entry, operation: 'Eat' }, 'operation must be `Apply` or `Update`'],
    [{ ...entry, apiVersion: '' }, 'apiVersion must not be empty'],
    [{ ...entry, fieldsType: '' }, 'missing fieldsType in managed fields entry 0'],
    [{ ...entry, fieldsType: 'V2' }, 'invalid fieldsType "V2" in managed fields entry 0'],
    [{ ...entry, fieldsV1: { x: {} } }, 'error decoding versioned set: error decoding set: key must be 2 characters long:'],
    [{ ...entry, fieldsV1: { 'f:a': 5 } }, 'error decoding versioned set: error decoding set: ReadMapCB: expect { or n'],
  ])('%j cannot be read', (bad, message) => {
    expect(() => decodeManagers([bad as JsonObject])).toThrow(message);
  });

  test('appliers come first, then the oldest', () => {
    const entries = [
      entry,
      { ...entry, manager: 'b', time: '2026-01-01T00:00:01Z' },
      { ...entry, manager: 'z', operation: 'Apply', time: '2026-01-01T00:00:09Z' },
      { ...entry, manager: 'a', time: '2026-01-01T00:00:01Z' },
    ];
    expect(encodeManagers(decodeManagers(entries as JsonObject[]))?.map(({ manager }) => manager)).toEqual(['z', 'm', 'a', 'b']);
  });
});

describe('scale', () => {
  const PATHS = new Map([['apps/v1', ['f:spec', 'f:replicas']]]);
  const parent = decodeManagers([
    {
      manager: 'kubectl',
      operation: 'Apply',
      apiVersion: 'apps/v1',
      time: '2026-01-01T00:00:01Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:replicas': {}, 'f:paused': {} } },
    },
    { manager: 'hpa', operation: 'Update', apiVersion: 'apps/v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:metadata': {} } },
  ]);

  test('is owned by the owners of the replicas', () => {
    expect(encodeManagers(scaleManagers(parent, PATHS))).toMatchObject([
      { manager: 'kubectl', operation: 'Apply', apiVersion: 'autoscaling/v1', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ]);
  });

  test('who takes the scale takes the replicas, without a time', () => {
    const scale = decodeManagers([
      {
        manager: 'scaler',
        operation: 'Update',
        apiVersion: 'autoscaling/v1',
        subresource: 'scale',
        time: '2026-01-01T00:00:05Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      },
    ]);
    expect(encodeManagers(parentManagers(parent, scale, PATHS, 'apps/v1'))).toEqual([
      expect.objectContaining({ manager: 'kubectl', fieldsV1: { 'f:spec': { 'f:paused': {} } } }),
      expect.objectContaining({ manager: 'hpa' }),
      {
        manager: 'scaler',
        operation: 'Update',
        apiVersion: 'apps/v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
        subresource: 'scale',
      },
    ]);
  });
});

describe('objects of more items than are owned one by one', () => {
  const many = { items: Array.from({ length: LIMITS.ownedItems + 1 }, (_, index) => ({ name: `i${index}` })) };

  test('are owned by nobody, and are not applied', () => {
    expect(() => ownerOfNew(ONE_VERSION, thing({}), thing(many), new World().writer('a'))).toThrow(TooManyItems);
    expect(() => new World().update('a', many)).toThrow(TooManyItems);
    expect(() => checkItems(thing(many).plan, many)).toThrow(TooManyItems);
  });

  test('so are those whose items have more fields in all', () => {
    const ofThree = (count: number) => ({ items: many.items.slice(0, count).map((item) => ({ ...item, value: 'v', ports: [] })) });
    const [most, more] = [ofThree(LIMITS.ownedFields / 3), ofThree(LIMITS.ownedFields / 3 + 1)];
    expect(() => checkItems(thing(most).plan, most)).not.toThrow();
    expect(() => checkItems(thing(more).plan, more)).toThrow(`limit is ${LIMITS.ownedFields} fields of items`);
  });

  test('up to the limit they are', () => {
    expect(new World().update('a', { items: many.items.slice(1) }).owners).toHaveProperty('a Update');
  });
});
