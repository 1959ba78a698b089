import { expect, test } from 'vitest';
import { AdmissionChain } from './chain.ts';
import { type AdmissionPlugin, CREATE, CREATE_OR_UPDATE } from './plugin.ts';
import { testEnvironment, writeOf } from './testing/attributes.ts';

const newChain = (): AdmissionChain => new AdmissionChain(testEnvironment().metrics);

function recorder(log: string[], name: string, more: Partial<AdmissionPlugin> = {}): AdmissionPlugin {
  return { name, operations: CREATE_OR_UPDATE, mutate: () => void log.push(`mutate ${name}`), validate: () => void log.push(`validate ${name}`), ...more };
}
const refuse = async (): Promise<void> => Promise.reject(new Error('no'));

test('asks in order, those whom the operation and the target concern', async () => {
  const log: string[] = [];
  const chain = newChain();
  chain.use([
    recorder(log, 'pods', { targets: ['pods'] }),
    recorder(log, 'all'),
    recorder(log, 'creations', { operations: CREATE }),
    recorder(log, 'bindings', { targets: ['pods/binding', 'ingresses.networking.k8s.io'] }),
  ]);
  const asked = async (...write: Parameters<typeof writeOf>): Promise<string[]> => {
    log.length = 0;
    await chain.mutate(writeOf(...write));
    return log.map((line) => line.replace('mutate ', ''));
  };
  expect(await asked('pods', {})).toEqual(['pods', 'all', 'creations']);
  expect(await asked('pods', {}, { operation: 'UPDATE' })).toEqual(['pods', 'all']);
  expect(await asked('pods', {}, { operation: 'DELETE' })).toEqual([]);
  expect(await asked('pods/binding', {})).toEqual(['all', 'creations', 'bindings']);
  expect(await asked('ingresses.networking.k8s.io', {})).toEqual(['all', 'creations', 'bindings']);
  expect(await asked('ingresses.other', {})).toEqual(['all', 'creations']);
  expect(await asked('constructor', {})).toEqual(['all', 'creations']);
});

test('is synchronous until a plug-in waits, and stops at the first that refuses', async () => {
  const log: string[] = [];
  const chain = newChain();
  chain.use([recorder(log, 'a'), recorder(log, 'b')]);
  expect(chain.validate(writeOf('pods', {}))).toBeUndefined();
  expect(log).toEqual(['validate a', 'validate b']);

  chain.use([recorder(log, 'a'), recorder(log, 'b', { mutate: refuse }), recorder(log, 'c')]);
  log.length = 0;
  await expect(chain.mutate(writeOf('pods', {}))).rejects.toThrow('no');
  expect(log).toEqual(['mutate a']);
});

test('mutates once more, and once only, where a plug-in asks for it', async () => {
  const log: string[] = [];
  const chain = newChain();
  const asking = recorder(log, 'b', {
    mutate: (attributes) => {
      log.push(`mutate b, ${attributes.reinvocation ?? 'first'}`);
      attributes.reinvocation ??= 'requested';
    },
  });
  chain.use([recorder(log, 'a'), asking]);
  await chain.mutate(writeOf('pods', {}));
  expect(log).toEqual(['mutate a', 'mutate b, first', 'mutate a', 'mutate b, running']);
});

test('counts what each step and each plug-in has come to, but not the checks behind them', async () => {
  const { metrics, registry } = testEnvironment();
  const chain = new AdmissionChain(metrics);
  chain.use([recorder([], 'a'), recorder([], 'b', { validate: refuse })], [recorder([], 'check')]);
  const write = writeOf('pods', {});
  await chain.mutate(write);
  await expect(chain.validate(write)).rejects.toThrow('no');
  const counts = (): string[] => registry.print().match(/^\S+_count\{.*$/gm) ?? [];
  const step = 'apiserver_admission_step_admission_duration_seconds';
  const plugin = 'apiserver_admission_controller_admission_duration_seconds_count';
  expect(counts()).toEqual([
    `${plugin}{name="a",operation="CREATE",rejected="false",type="admit"} 1`,
    `${plugin}{name="a",operation="CREATE",rejected="false",type="validate"} 1`,
    `${plugin}{name="b",operation="CREATE",rejected="false",type="admit"} 1`,
    `${plugin}{name="b",operation="CREATE",rejected="true",type="validate"} 1`,
    `${step}_count{operation="CREATE",rejected="false",type="admit"} 1`,
    `${step}_count{operation="CREATE",rejected="true",type="validate"} 1`,
    `${step}_summary_count{operation="CREATE",rejected="false",type="admit"} 1`,
    `${step}_summary_count{operation="CREATE",rejected="true",type="validate"} 1`,
  ]);
  registry.reset();
  await chain.mutate(write);
  expect(counts()).toHaveLength(4);
});

test("counts what upstream's plug-ins are called for, whether or not the target concerns them", async () => {
  const { metrics, registry } = testEnvironment();
  const chain = new AdmissionChain(metrics);
  const counted = (): string[] =>
    [...registry.print().matchAll(/^apiserver_admission_controller_admission_duration_seconds_count\{name="(\w+)".*rejected="(\w+)".* (\d+)$/gm)].map(
      ([, name, rejected, count]) => `${name} ${rejected} ${count}`,
    );
  chain.use([
    recorder([], 'LimitRanger', { targets: ['pods'] }),
    recorder([], 'PodNodeSelector', { targets: ['pods'] }),
    recorder([], 'MutatingAdmissionWebhook', { mutate: ({ name }) => (name === 'bad' ? refuse() : undefined) }),
    recorder([], 'AlwaysDeny', { targets: ['secrets'] }),
  ]);
  await chain.mutate(writeOf('configmaps', {}));
  await chain.mutate(writeOf('pods', {}));
  expect(counted()).toEqual(['AlwaysDeny false 2', 'LimitRanger false 2', 'MutatingAdmissionWebhook false 2', 'PodNodeSelector false 2']);
  registry.reset();
  // Who stands behind the one that refuses is not called.
  await expect(chain.mutate(writeOf('configmaps', { metadata: { name: 'bad' } }, { name: 'bad' }))).rejects.toThrow('no');
  expect(counted()).toEqual(['LimitRanger false 1', 'MutatingAdmissionWebhook true 1', 'PodNodeSelector false 1']);
});
