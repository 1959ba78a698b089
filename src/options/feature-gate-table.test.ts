import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CURRENT_FACTS } from '../../scripts/facts/current.ts';
import { type EffectiveVersion, resolveEffectiveVersion } from './effective-version.ts';
import { newestGates, stateAt } from './feature-gate-table.ts';
import { resolveFeatureGates } from './feature-gates.ts';

type Gates = Record<string, { stage: string; default: boolean }>;

const emulated = JSON.parse(readFileSync(`${CURRENT_FACTS}/emulated-versions.json`, 'utf8')) as Record<string, { gates: Gates }>;
const at = (version: string): EffectiveVersion => resolveEffectiveVersion({ emulatedVersion: [version], minCompatibilityVersion: [] }, []);
const resolve = (version: string, flag: string) => resolveFeatureGates(new Map([['', [flag]]]), at(version));

test.each(Object.entries(emulated))('the gates of v%s are those that the reference shows', (version, { gates }) => {
  const shown = Object.fromEntries(
    [...stateAt(at(version))].map(([name, { stage, isOnByDefault }]) => [name, { stage: stage.toUpperCase(), default: isOnByDefault }]),
  );
  const facts = Object.fromEntries(Object.entries(gates).map(([name, { stage, default: isOn }]) => [name, { stage, default: isOn }]));
  expect(shown).toEqual(facts);
});

test('nothing is read where the newest version is served', () => {
  expect(stateAt(at('1.36'))).toBe(newestGates());
});

test('a gate of a later version is off, and cannot be moved', () => {
  const { gates } = resolveFeatureGates(new Map(), at('1.33'));
  expect(gates.isEnabled('GenericWorkload')).toBe(false);
  expect(resolve('1.33', 'GenericWorkload=true').errors).toEqual([
    'cannot set feature gate GenericWorkload to true, feature is PreAlpha at emulated version 1.33, min compatibility version 1.33',
  ]);
});

test('a gate that is locked by now may be moved in a version that had it open', () => {
  expect(resolve('1.34', 'ImageVolume=true')).toMatchObject({ errors: [], warnings: [] });
  expect(resolve('1.34', 'ImageVolume=true').gates.isEnabled('ImageVolume')).toBe(true);
  expect(resolve('1.36', 'ImageVolume=false').errors).toEqual(['cannot set feature gate ImageVolume to false, feature is locked to true']);
});

test('where that changes nothing here, a line says so', () => {
  expect(resolve('1.33', 'AnonymousAuthConfigurableEndpoints=false').warnings).toEqual([
    '--feature-gates: AnonymousAuthConfigurableEndpoints=false changes nothing here: it cannot be moved in the newest version, whose code this is',
  ]);
});
