import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { builtDescriptions, describedBy, withoutEnums } from './descriptions.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const SCRIPT = join(PROJECT, 'scripts/descriptions.mjs');
const PLACES = join(PROJECT, 'scripts/descriptions/places.json');
const CORE = 'io.k8s.api.core.v1';

/** Fields of alpha and beta versions that refer to other types, which the packages leave without their texts. */
const WITHOUT_TEXT_MAX = 36;

test('the build finds the description of every place in the packages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-descriptions-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'descriptions.json.br');
  execFileSync(process.execPath, [SCRIPT, file]);
  const descriptions = builtDescriptions(pathToFileURL(file))();
  const places = Object.entries(JSON.parse(readFileSync(PLACES, 'utf8')) as Record<string, Record<string, string>>);
  const missing = places.flatMap(([type, fields]) =>
    Object.keys(fields)
      .filter((field) => descriptions.ofField(type, field) === '')
      .map((field) => `${type}.${field}`),
  );
  expect(missing.filter((place) => !/\.v\d+(alpha|beta)\d+\./.test(place))).toEqual([]);
  expect(missing.length).toBeLessThanOrEqual(WITHOUT_TEXT_MAX);
  expect(descriptions.ofType(`${CORE}.Pod`)).toMatch(/^Pod is a collection of containers/);
  expect(descriptions.ofField(`${CORE}.NoSuchType`, 'name')).toBe('');
});

test('without a build there are none', () => {
  const descriptions = builtDescriptions(new URL('file:///nowhere/descriptions.json.br'))();
  expect([descriptions.ofType(`${CORE}.Pod`), descriptions.ofField('constructor', '__proto__')]).toEqual(['', '']);
});

test('where enums are not told, descriptions end before their values', () => {
  const file = { texts: ['How it restarts.\n\nPossible enum values:\n - `"Always"`', 'Its name.'], types: { Pod: { '': 1, policy: 0 } } };
  const { ofField, ofType } = withoutEnums(describedBy(file));
  expect([ofField('Pod', 'policy'), ofType('Pod')]).toEqual(['How it restarts.', 'Its name.']);
});
