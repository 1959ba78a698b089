import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Engine } from '../../storage/engine.ts';
import { timeOf } from '../../util/time.ts';

/**
 * What a first start stores that is the same on every server whose features and APIs are the default ones: namespaces, the RBAC policy, priority classes, flow
 * control and the APIServices of the built-in groups. Made one by one, these 180 objects take a sixth of the time to readiness; so the build keeps what
 * its own first start has stored (`writeSeed`), and a fresh store begins with that (`plantSeed`). The bootstrap hooks then find all of it there, as at any
 * later start, and go on from it.
 *
 * In the order in which they were stored; keys without the store's prefix.
 */
export type Seed = readonly (readonly [key: string, value: string])[];

const SEEDED = [
  'namespaces/',
  'clusterroles/',
  'clusterrolebindings/',
  'roles/',
  'rolebindings/',
  'priorityclasses/',
  'prioritylevelconfigurations/',
  'flowschemas/',
  'apiregistration.k8s.io/apiservices/',
];

/** In the place of what every store has its own. */
const ANY_UID = '00000000-0000-0000-0000-000000000000';
const ANY_TIME = '0000-00-00T00:00:00Z';
const TIME = /(?<=")2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z(?=")/g;

/** Keeps what the first start of a server with default flags has left in the store in `folder`. */
export async function writeSeed(folder: string, prefix: string, file: string): Promise<void> {
  const { openSnapshot } = await import('../../storage/engines/lmdb-file.ts');
  const snapshot = openSnapshot(folder);
  const items = [...snapshot.items()].filter(({ key }) => SEEDED.some((resource) => key.startsWith(prefix + resource)));
  const seed: Seed = items.toSorted((a, b) => a.revision - b.revision).map(({ key, value }) => [key.slice(prefix.length), withoutOwn(value.toString())]);
  await snapshot.close();
  writeFileSync(file, JSON.stringify(seed));
}

function withoutOwn(value: string): string {
  const { metadata } = JSON.parse(value) as { metadata: { uid: string } };
  return value.replaceAll(metadata.uid, ANY_UID).replaceAll(TIME, ANY_TIME);
}

/** What the build left beside the bundle; nothing from source, where nothing was built. */
export function builtSeed(url = new URL('./seed.json', import.meta.url)): Seed {
  try {
    return JSON.parse(readFileSync(url, 'utf8')) as Seed;
  } catch {
    return [];
  }
}

const RBAC = /^(cluster)?role(binding)?s\//;

/** What a server without RBAC begins with: its hook that keeps the policy does not run. */
export const withoutRbac = (seed: Seed): Seed => seed.filter(([key]) => !RBAC.test(key));

/** Puts the seed into a store that has nothing yet, all of it or, where that fails, nothing. */
export async function plantSeed(engine: Engine, prefix: string, readSeed: () => Seed, now: Date): Promise<void> {
  const { items } = await engine.range(prefix, { limit: 1, hasExactCount: false });
  if (items.length > 0) return;
  const time = timeOf(now);
  const valueOf = (text: string): Buffer => Buffer.from(text.replace(ANY_UID, randomUUID()).replaceAll(ANY_TIME, time));
  await Promise.all(readSeed().map(([key, text]) => engine.commit({ type: 'put', key: prefix + key, value: valueOf(text), expected: 0 })));
}
