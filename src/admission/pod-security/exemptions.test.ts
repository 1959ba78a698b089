import { expect, test } from 'vitest';
import type { AdmissionPlugin } from '../plugin.ts';
import { type TestedWrite, admit, environmentWith, writeOf } from '../testing/attributes.ts';
import { podSecurity } from './pod-security.ts';

async function plugin(): Promise<AdmissionPlugin> {
  const environment = await environmentWith('', 'namespaces', { metadata: { name: 'n' } }, { metadata: { name: 'free' } });
  const configurations = {
    podSecurity: { defaults: { enforce: 'baseline' }, namespaces: new Set(['free']), usernames: new Set(['trusted']), runtimeClasses: new Set(['vm']) },
  };
  return podSecurity({ ...environment, options: { ...environment.options, configurations } });
}
const pod = (spec: object = {}, more: object = {}): TestedWrite => writeOf('pods', { spec: { hostNetwork: true, containers: [], ...spec } }, more);

test('a namespace without labels is held to the defaults', async () => {
  await expect(admit(await plugin(), pod())).rejects.toThrow('violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)');
});

test.each([
  ['namespace', pod({}, { namespace: 'free' })],
  ['user', pod({}, { user: { name: 'trusted', groups: [] } })],
  ['runtimeClass', pod({ runtimeClassName: 'vm' })],
])('exempt by %s', async (why, write) => {
  await admit(await plugin(), write);
  expect(write.auditAnnotations).toEqual({ 'pod-security.kubernetes.io/exempt': why });
});

test('labels of an exempt namespace are warned of', async () => {
  const write = writeOf(
    'namespaces',
    { metadata: { name: 'free', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } },
    { name: 'free', namespace: 'free' },
  );
  await admit(await plugin(), write);
  expect(write.warnings).toEqual(['namespace "free" is exempt from Pod Security, and the policy (enforce=restricted:latest) will be ignored']);
});
