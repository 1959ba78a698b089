import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { CURRENT_FACTS } from '../scripts/facts/current.ts';
import { connect } from '../scripts/facts/server/connection.ts';
import { readEmulated } from '../scripts/facts/server/read.ts';
import { startServer as startEmbedded } from '../src/index.ts';
import { replayCorpus } from './support/oracle.ts';
import { PROJECT_DIR } from './support/paths.ts';
import { startServer } from './support/server.ts';

/* --emulated-version (KEP-4330): what kube-apiserver v1.36 serves, and answers, where it emulates v1.33, v1.34 and v1.35. */

interface EmulatedFacts {
  version: Record<string, string>;
  groupVersions: Record<string, string[]>;
  gates: Record<string, { stage: string; default: boolean }>;
}

const facts = JSON.parse(readFileSync(join(PROJECT_DIR, CURRENT_FACTS, 'emulated-versions.json'), 'utf8')) as Record<string, EmulatedFacts>;
const REPLAY_TIMEOUT_MS = inject('workers') > 0 ? 900_000 : 180_000;
/** In percent. */
const LEAST = 99.5;
const ADMIN = 'admin-token';

test.concurrent.each(Object.keys(facts))('a server that emulates v%s', { timeout: REPLAY_TIMEOUT_MS }, async (version) => {
  const server = await startServer({ flags: [`--emulated-version=${version}`] });
  const { gates, ...served } = (await readEmulated(connect(server.url, ADMIN))) as unknown as EmulatedFacts;
  const { gates: knownGates, ...known } = facts[version]!;
  expect(served).toEqual(known);
  expect(Object.fromEntries(Object.entries(gates).toSorted())).toEqual(Object.fromEntries(Object.entries(knownGates).toSorted()));
  const scores = await replayCorpus(server.url, `emulated/${version}`);
  expect(Object.entries(scores).filter(([, { exact }]) => exact! < LEAST)).toEqual([]);
  await server.stop();
});

/** Names of the group-versions of a group, and of the resources of each. */
async function servedOf(url: string, group: string): Promise<Record<string, string[]>> {
  const { groupVersions } = (await readEmulated(connect(url, ADMIN))) as unknown as EmulatedFacts;
  return Object.fromEntries(Object.entries(groupVersions).filter(([name]) => name.startsWith(`${group}/`)));
}

const DEVICES = ['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices'];

/* As the reference serves the group with the same flags; whether it has v1beta2 in the second case depends on the order of a Go map. */
test.concurrent.each<[string, string[], Record<string, string[]>]>([
  ['--runtime-config turns on what the version has', [], { 'resource.k8s.io/v1beta1': DEVICES }],
  [
    '--emulation-forward-compatible adds what is above it',
    ['--emulation-forward-compatible'],
    { 'resource.k8s.io/v1': DEVICES, 'resource.k8s.io/v1beta1': DEVICES, 'resource.k8s.io/v1beta2': DEVICES },
  ],
])('%s', async (_title, flags, expected) => {
  const server = await startServer({ flags: ['--emulated-version=1.33', '--runtime-config=resource.k8s.io/v1beta1=true', ...flags] });
  expect(await servedOf(server.url, 'resource.k8s.io')).toEqual(expected);
  await server.stop();
});

test('--runtime-config-emulation-forward-compatible lets later versions be named', async () => {
  const flags = ['--emulated-version=1.33', '--runtime-config=resource.k8s.io/v1=true'];
  const server = await startServer({ flags: [...flags, '--runtime-config-emulation-forward-compatible'] });
  expect(await servedOf(server.url, 'resource.k8s.io')).toEqual({ 'resource.k8s.io/v1': DEVICES });
  await server.stop();
});

const command = (...args: string[]): Promise<string> =>
  promisify(execFile)(process.execPath, [join(inject('distDir'), 'binnacle.js'), 'serve', '--storage-backend=memory', '--secure-port=0', ...args]).then(
    () => 'it ended',
    (error: { stderr: string }) => error.stderr,
  );

const ADVICE = 'Consider setting --runtime-config-emulation-forward-compatible=true';

/* In the words of the reference. */
test.concurrent.each<[string[], string]>([
  [['--emulated-version=1.32'], 'emulation version 1.32 is not between [1.33, 1.36.0]'],
  [
    ['--emulation-forward-compatible'],
    'ServerRunOptions.EmulationForwardCompatible cannot be set to true if the emulation version is the same as the binary version',
  ],
  [
    ['--runtime-config-emulation-forward-compatible'],
    'ServerRunOptions.RuntimeConfigEmulationForwardCompatible cannot be set to true if the emulation version is the same as the binary version',
  ],
  [
    ['--emulated-version=1.33', '--runtime-config=resource.k8s.io/v1=true'],
    `cannot enable version resource.k8s.io/v1 in runtime-config because all the resources have been introduced after the current version 1.33. ${ADVICE}`,
  ],
  [
    ['--emulated-version=1.33', '--runtime-config=resource.k8s.io/v1/resourceclaims=true'],
    `cannot enable resource resource.k8s.io/v1, Resource=resourceclaims in runtime-config because it is introduced at 1.34 after the current version 1.33. ${ADVICE}`,
  ],
])('%j is refused', async (flags, words) => {
  expect(await command(...flags)).toContain(words);
});

test('a server inside a program', async () => {
  const server = await startEmbedded({ emulatedVersion: '1.34' });
  try {
    const response = await fetchVersion(server.url, server.caCertificate);
    expect(response).toMatchObject({ minor: '36', emulationMajor: '1', emulationMinor: '34', minCompatibilityMinor: '33' });
  } finally {
    await server.stop();
  }
});

async function fetchVersion(url: string, ca: string): Promise<unknown> {
  const { get } = await import('node:https');
  return new Promise((resolve, reject) => {
    get(`${url}/version`, { ca }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve(JSON.parse(text)));
    }).on('error', reject);
  });
}
