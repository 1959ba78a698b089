import { expect, test } from 'vitest';
import { AdmissionChain } from './chain.ts';
import { type AdmissionPlugin, CREATE, CREATE_OR_UPDATE } from './plugin.ts';
import { writeOf } from './testing/attributes.ts';

function recorder(log: string[], name: string, more: Partial<AdmissionPlugin> = {}): AdmissionPlugin {
  return { name, operations: CREATE_OR_UPDATE, mutate: () => void log.push(`mutate ${name}`), validate: () => void log.push(`validate ${name}`), ...more };
}
const refuse = async (): Promise<void> => Promise.reject(new Error('no'));

test('asks in order, those whom the operation and the target concern', async () => {
  const log: string[] = [];
  const chain = new AdmissionChain();
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
  const chain = new AdmissionChain();
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
  const chain = new AdmissionChain();
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
