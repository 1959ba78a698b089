import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CURRENT_FACTS } from '../../scripts/facts/current.ts';
import { apiFeatures } from '../apis/features.ts';
import { effectOf, gatesDocument } from './feature-gate-effects.ts';
import { type GateGroup, gateDependencies, gateGroups } from './feature-gate-facts.ts';
import { resolveFeatureGates } from './feature-gates.ts';

const gates: [string, GateGroup][] = gateGroups.flatMap((group) => group.names.map((name): [string, GateGroup] => [name, group]));
const SOURCES = new URL('..', import.meta.url).pathname;
const TABLES = new Set(['feature-gate-facts.ts', 'feature-gate-effects.ts']);

function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else if (entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts') && !TABLES.has(entry.name)) yield readFileSync(path, 'utf8');
  }
}

/** Names that stand in quotes somewhere: what is asked for. Plug-ins have names too, and one is that of a gate it does not ask for. */
const asked = new Set([...sources(SOURCES)].flatMap((text) => [...text.matchAll(/'([A-Z][A-Za-z0-9]+)'/g)].map(([, name]) => name!)));
const STAGE_GATES = new Set(['AllAlpha', 'AllBeta']);

test.each(gates)('%s', (name, group) => {
  const value = !group.isOnByDefault;
  const moved = resolveFeatureGates(new Map([['', [`${name}=${value}`]]]));
  const { is } = effectOf(name, group);
  if (is === 'locked') return expect(moved.errors).toEqual([`cannot set feature gate ${name} to ${value}, feature is locked to ${!value}`]);
  expect(moved.errors.filter((error) => !error.includes('depends on features that are disabled'))).toEqual([]);
  if (STAGE_GATES.has(name)) return expect(moved.warnings[0]).toContain(`${name}=true moves gates that change nothing here`);
  expect(moved.warnings).toEqual(is === 'honoured' ? [] : [expect.stringContaining(`--feature-gates: ${name}=${value} `)]);
  expect(asked.has(name) || apiFeatures.has(name)).toBe(is === 'honoured');
});

test('at its default a gate is silent', () => {
  const pairs = gates.filter(([name]) => !STAGE_GATES.has(name)).map(([name, { isOnByDefault }]) => `${name}=${isOnByDefault}`);
  expect(resolveFeatureGates(new Map([['', pairs]]))).toMatchObject({ errors: [], warnings: [] });
});

test('the table holds the gates that upstream registers', () => {
  const table = gates.map(([name, { stage, isOnByDefault, isLocked }]) => [
    name,
    {
      stage: stage.toUpperCase(),
      default: isOnByDefault,
      ...(isLocked && { locked: true }),
      ...(Object.hasOwn(gateDependencies, name) && { needs: gateDependencies[name] }),
    },
  ]);
  expect(Object.fromEntries(table)).toEqual(JSON.parse(readFileSync(`${CURRENT_FACTS}/feature-gates.json`, 'utf8')));
});

test('the kinds have the defaults of the table', () => {
  const defaults = new Map(gates.map(([name, { isOnByDefault }]) => [name, isOnByDefault]));
  for (const [name, isOn] of apiFeatures) expect([name, isOn]).toEqual([name, defaults.get(name)]);
});

test('docs/feature-gates.md is what the table says', async () => {
  await expect(gatesDocument()).toMatchFileSnapshot('../../docs/feature-gates.md');
});
