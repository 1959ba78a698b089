import { expect, test } from 'vitest';
import { labelHash, serverIdentity } from './server-identity.ts';

test('a server is called as the reference calls itself on the same machine', () => {
  expect(serverIdentity('vm', 'kube-apiserver')).toBe('apiserver-wlv32tlttr4jl3gtroqexyxapa');
});

test('labels are hashes', () => {
  expect(labelHash('a')).toBe('sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb');
  expect(labelHash('')).toBe('');
});
