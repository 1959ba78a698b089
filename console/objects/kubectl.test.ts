import { expect, test } from 'vitest';
import { getCommand, objectCommand, shellWord } from './kubectl.ts';

const deployments = {
  plural: 'deployments',
  singular: 'deployment',
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  isNamespaced: true,
  verbs: [],
  shortNames: [],
};

test('commands for tables', () => {
  expect(getCommand({ resource: deployments })).toBe('kubectl get deployments.apps -A --watch');
  expect(getCommand({ resource: deployments, namespace: 'shop', labelSelector: 'app in (a, b)', fieldSelector: 'metadata.name=x' })).toBe(
    "kubectl get deployments.apps -n shop -l 'app in (a, b)' --field-selector metadata.name=x --watch",
  );
  expect(getCommand({ resource: { plural: 'nodes', group: '', isNamespaced: false } })).toBe('kubectl get nodes --watch');
});

test('commands for objects', () => {
  expect(objectCommand('get', deployments, 'web', 'shop', '-o', 'yaml')).toBe('kubectl get deployment.apps/web -n shop -o yaml');
});

test('words are quoted as a shell needs it', () => {
  expect(shellWord("it's")).toBe("'it'\\''s'");
  expect(shellWord('a!=b')).toBe("'a!=b'");
});
