import { expect, test } from 'vitest';
import { admissionPlugins, enabledPlugins } from './plugin-order.ts';
import { createPlugins, existingPlugins } from './plugins.ts';
import { testEnvironment } from './testing/attributes.ts';

test('every known plug-in exists', () => {
  const known = admissionPlugins.map(({ name }) => name);
  expect(existingPlugins.toSorted()).toEqual(known.toSorted());
});

test('they are made in the order in which they run, under their own names', () => {
  const names = enabledPlugins([], []);
  const made = createPlugins(names, testEnvironment()).map(({ name }) => name);
  expect(made).toEqual(names);
});

test('one that cannot be made is named', () => {
  expect(() => createPlugins(['EventRateLimit'], testEnvironment())).toThrow(
    'couldn\'t init admission plugin "EventRateLimit": limits: Invalid value: null: must not be empty',
  );
});
