import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { builtDescriptions } from './descriptions.ts';

const SCRIPT = join(import.meta.dirname, '../../../scripts/descriptions.mjs');
const CORE = 'io.k8s.api.core.v1';

test('the build takes descriptions from the client library, by the names of the API', () => {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-descriptions-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'descriptions.json');
  execFileSync(process.execPath, [SCRIPT, file]);
  const descriptions = builtDescriptions(pathToFileURL(file))();
  expect(descriptions.ofType(`${CORE}.Pod`)).toMatch(/^Pod is a collection of containers/);
  // Two groups have an Event, each with a note of its own.
  expect(descriptions.ofField(`${CORE}.Event`, 'message')).not.toBe('');
  expect(descriptions.ofField('io.k8s.api.events.v1.Event', 'note')).not.toBe('');
  // Named otherwise in the client, escaped in its comments, and described by its type there.
  expect(descriptions.ofField('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta', 'continue')).not.toBe('');
  expect(descriptions.ofField('io.k8s.api.apps.v1.DeploymentStrategy', 'type')).toContain('"Recreate"');
  expect(descriptions.ofField(`${CORE}.ServicePort`, 'targetPort')).toBe('');
});

test('without a build there are none', () => {
  const descriptions = builtDescriptions(new URL('file:///nowhere/descriptions.json'))();
  expect([descriptions.ofType(`${CORE}.Pod`), descriptions.ofField('constructor', '__proto__')]).toEqual(['', '']);
});
