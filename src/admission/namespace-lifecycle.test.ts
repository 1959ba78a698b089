import { expect, test } from 'vitest';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import type { AdmissionPlugin } from './plugin.ts';
import { admit, environmentWith, writeOf } from './testing/attributes.ts';

const phase = (name: string, status: string): object => ({ metadata: { name }, status: { phase: status } });
const made = async (): Promise<AdmissionPlugin> =>
  namespaceLifecycle(await environmentWith('', 'namespaces', phase('n', 'Active'), phase('dying', 'Terminating')));

test.each([
  ['a creation in a namespace that lives', writeOf('configmaps', {})],
  ['an update in one that is going', writeOf('configmaps', {}, { namespace: 'dying', operation: 'UPDATE' })],
  ['a deletion in one that is gone', writeOf('configmaps', undefined, { namespace: 'gone', operation: 'DELETE' })],
])('%s is let', async (_case, write) => {
  await expect(admit(await made(), write)).resolves.toBe(write.object);
});

test('refuses the rest', async () => {
  const plugin = await made();
  await expect(admit(plugin, writeOf('configmaps', {}, { namespace: 'gone' }))).rejects.toThrow('namespaces "gone" not found');
  await expect(admit(plugin, writeOf('configmaps', { metadata: { generateName: 'g-' } }, { namespace: 'dying' }))).rejects.toMatchObject({
    message: 'configmaps "g-" is forbidden: unable to create new content in namespace dying because it is being terminated',
    status: { details: { causes: [{ reason: 'NamespaceTerminating', message: 'namespace dying is being terminated', field: 'metadata.namespace' }] } },
  });
  await expect(admit(plugin, writeOf('namespaces', undefined, { operation: 'DELETE', name: 'default', namespace: 'default' }))).rejects.toThrow(
    'this namespace may not be deleted',
  );
});
