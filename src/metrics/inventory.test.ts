import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CURRENT_FACTS } from '../../scripts/facts/current.ts';
import { PROJECT_DIR } from '../../test/support/paths.ts';
import type { Declarations } from './declaration.ts';
import { INDICATORS, INVENTORY } from './inventory.ts';
import { formatNumber } from './text.ts';

/* The inventory beside what upstream documents (metrics.json) and what a kube-apiserver shows (metrics-seen.json). */

interface DocumentedMetric {
  name: string;
  type: string;
  stability: string;
  labels?: string[];
  buckets?: number[];
}

interface SeenMetric {
  name: string;
  type: string;
  labels: string[];
  buckets?: string[];
}

const facts = <T>(file: string): T[] => JSON.parse(readFileSync(join(PROJECT_DIR, CURRENT_FACTS, file), 'utf8')) as T[];
const documented = facts<DocumentedMetric>('metrics.json');
const seen = facts<SeenMetric>('metrics-seen.json');
const declared: Declarations = { ...INVENTORY, ...INDICATORS };
const documentation = readFileSync(join(PROJECT_DIR, 'docs/metrics.md'), 'utf8');
/** The rows of the table of docs/metrics.md: what Binnacle does not have. */
const absent = new Set([...documentation.matchAll(/^\| `([a-z_0-9]+)` \|/gm)].map(([, name]) => name!));
const seenNames = new Set(seen.map(({ name }) => name));

test("every metric of upstream's is declared, or docs/metrics.md says why it is not", () => {
  const names = [...documented, ...seen].map(({ name }) => name);
  expect(names.filter((name) => !(name in declared) && !absent.has(name))).toEqual([]);
  expect([...absent].filter((name) => name in declared || !names.includes(name))).toEqual([]);
  expect([...absent].filter((name) => seenNames.has(name)).length).toBeLessThanOrEqual(15);
});

test('docs/metrics.md names every metric that upstream has not', () => {
  const own = Object.keys(declared).filter((name) => name.startsWith('binnacle_') && !name.startsWith('binnacle_worker_'));
  expect(own.filter((name) => !new RegExp(`\\b${name}\\b`).test(documentation))).toEqual([]);
});

describe('a declaration is as upstream has it', () => {
  test.each(documented.filter(({ name }) => name in declared))('documented: $name', ({ name, type, stability, labels = [], buckets }) => {
    const own = declared[name]!;
    expect(own.stability).toBe(stability);
    if (type !== 'Custom') expect(own.type).toBe(DOCUMENTED_TYPES[type] ?? type.toLowerCase());
    // One metric's documentation lacks a label that the server shows.
    if (!seenNames.has(name)) expect(own.labels.toSorted()).toEqual(labels.toSorted());
    if (buckets && !seenNames.has(name)) expect(own.buckets.map(formatNumber)).toEqual(buckets.map(formatNumber));
  });

  test.each(seen.filter(({ name }) => name in declared))('seen: $name', ({ name, type, labels, buckets }) => {
    const declaration = declared[name]!;
    expect(declaration.type).toBe(type);
    expect(declaration.labels.toSorted()).toEqual(labels);
    if (buckets) expect([...declaration.buckets, Infinity].map(formatNumber)).toEqual(buckets);
    expect(declaration.isLazy).toBeUndefined();
  });
});

/** Upstream's words for how it keeps them, where they are not those of the page. */
const DOCUMENTED_TYPES: Readonly<Record<string, string>> = { TimingRatioHistogram: 'histogram' };

test('every declaration has a sentence of help, and no label twice', () => {
  for (const [name, { help, labels }] of Object.entries(declared)) {
    expect(`${name}: ${help}`).toMatch(/: [A-Z].*\.$/);
    expect(new Set(labels).size).toBe(labels.length);
  }
});
