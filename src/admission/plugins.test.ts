import { expect, test } from 'vitest';
import { admissionPlugins, enabledPlugins, pluginsToCome } from '../cli/admission-plugins.ts';
import { createPlugins, existingPlugins } from './plugins.ts';
import { testEnvironment } from './testing/attributes.ts';

test('every known plug-in exists or is said to be still to come', () => {
  const known = admissionPlugins.map(({ name }) => name);
  expect([...existingPlugins, ...pluginsToCome].toSorted()).toEqual(known.toSorted());
});

test('they are made in the order in which they run, under their own names', () => {
  const names = enabledPlugins([], []);
  const made = createPlugins(names, testEnvironment()).map(({ name }) => name);
  expect(made).toEqual(names.filter((name) => existingPlugins.includes(name)));
});
