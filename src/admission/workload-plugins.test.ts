import { describe, expect, test } from 'vitest';
import { jobValidation } from './job-validation.ts';
import { podGroupProtection, podGroupWorkloadExists } from './pod-groups.ts';
import { type TestEnvironment, type TestedWrite, admit, testEnvironment, writeOf } from './testing/attributes.ts';

const GROUP = 'scheduling.k8s.io';

async function environmentOf(plural: string, ...objects: object[]): Promise<TestEnvironment> {
  const environment = testEnvironment();
  for (const object of objects) await environment.client.resource(GROUP, plural).create('n', { kind: '', apiVersion: '', ...object } as never);
  return environment;
}
const off = (environment: TestEnvironment): TestEnvironment => ({ ...environment, isEnabled: () => false });

test('PodGroupProtection keeps groups that pods may use, once', async () => {
  const plugin = podGroupProtection(testEnvironment());
  const finalizersOf = async (finalizers?: string[]) =>
    (
      await admit<{ metadata: { finalizers?: string[] } }>(
        plugin,
        writeOf('podgroups.scheduling.k8s.io', { metadata: { name: 'g', ...(finalizers && { finalizers }) } }),
      )
    ).metadata.finalizers;
  expect(await finalizersOf()).toEqual(['scheduling.k8s.io/podgroup-protection']);
  expect(await finalizersOf(['scheduling.k8s.io/podgroup-protection'])).toEqual(['scheduling.k8s.io/podgroup-protection']);
  const unchanged = await admit<{ metadata: object }>(podGroupProtection(off(testEnvironment())), writeOf('podgroups.scheduling.k8s.io', {}));
  expect(unchanged.metadata).not.toHaveProperty('finalizers');
});

describe('PodGroupWorkloadExists', () => {
  const workload = { metadata: { name: 'w', namespace: 'n' }, spec: { podGroupTemplates: [{ name: 't' }] } };
  const group = (workloadName: string, podGroupTemplateName: string): TestedWrite =>
    writeOf('podgroups.scheduling.k8s.io', { spec: { podGroupTemplateRef: { workload: { workloadName, podGroupTemplateName } } } });

  test.each([
    ['none', 't', 'podgroups.scheduling.k8s.io "x" is forbidden: PodGroup rejected: Workload "none" not found'],
    ['w', 'none', 'PodGroup rejected: PodGroupTemplate "none" not found in Workload "w"'],
    ['leaving', 't', 'PodGroup rejected: Workload "leaving" is being deleted'],
  ])('refuses %s/%s', async (name, template, message) => {
    const leaving = { ...workload, metadata: { name: 'leaving', namespace: 'n', deletionTimestamp: '2026-01-01T00:00:00Z' } };
    const plugin = podGroupWorkloadExists(await environmentOf('workloads', workload, leaving));
    await expect(admit(plugin, group(name, template))).rejects.toThrow(message);
  });

  test('lets pass what is there, what refers to nothing, and all where the gate is off', async () => {
    const environment = await environmentOf('workloads', workload);
    await admit(podGroupWorkloadExists(environment), group('w', 't'));
    await admit(podGroupWorkloadExists(environment), writeOf('podgroups.scheduling.k8s.io', { spec: {} }));
    await admit(podGroupWorkloadExists(off(environment)), group('none', 't'));
  });
});

describe('JobValidation', () => {
  const gang = { schedulingPolicy: { gang: { minCount: 2 } } };
  const owned = { metadata: { name: 'own', namespace: 'n', ownerReferences: [{ controller: true, uid: 'job' }] }, spec: gang };
  const loose = { metadata: { name: 'loose', namespace: 'n' }, spec: { schedulingPolicy: { basic: {} } } };
  const change = (parallelism: number, podGroupName?: string): TestedWrite => {
    const spec = { template: { spec: podGroupName === undefined ? {} : { schedulingGroup: { podGroupName } } } };
    const oldObject = { kind: '', apiVersion: '', metadata: { name: 'x', namespace: 'n', uid: 'job' }, spec: { ...spec, parallelism: 1 } };
    return writeOf('jobs.batch', { spec: { ...spec, parallelism } }, { operation: 'UPDATE', oldObject });
  };

  test.each([[undefined], ['own']])('refuses another number of pods to a gang (%s)', async (named) => {
    const plugin = jobValidation(await environmentOf('podgroups', owned, loose));
    await expect(admit(plugin, change(2, named))).rejects.toThrow(
      'jobs.batch "x" is forbidden: cannot change parallelism for a Job referencing gang-scheduled PodGroup "own"',
    );
  });

  test.each<[string, number, string | undefined]>([
    ['no change', 1, 'own'],
    ['a group that is no gang', 2, 'loose'],
    ['a group that is not there', 2, 'none'],
  ])('lets pass %s', async (_, parallelism, named) => {
    await admit(jobValidation(await environmentOf('podgroups', owned, loose)), change(parallelism, named));
  });
});
