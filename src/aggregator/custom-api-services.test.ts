import { expect, test, vi } from 'vitest';
import { FakeClient } from '../client/fake-client.ts';
import type { ApiVersion } from '../registry/api-version.ts';
import { keepCustomApiServices } from './custom-api-services.ts';
import type { ApiService } from './local-api-services.ts';

const version = (group: string): ApiVersion => ({ group, version: 'v1', groupPriorityMinimum: 1_000, versionPriority: 100, resources: new Map() });

async function start(versions: ApiVersion[]) {
  const apiServices = new FakeClient().resource<ApiService>('apiregistration.k8s.io', 'apiservices');
  const stop = new AbortController();
  const report = vi.fn<(error: Error) => void>();
  let change = (): void => {};
  const custom = { versions: () => versions, onVersionsChange: (listener: () => void) => void (change = listener) };
  await keepCustomApiServices(apiServices, custom, { signal: stop.signal, report, now: () => new Date(0) });
  const names = (): string[] => apiServices.informer.list('').map(({ metadata }) => metadata.name!);
  return { apiServices, report, names, change: () => change(), stop: () => stop.abort() };
}

test('there is one for each group-version, and none for those that are gone', async () => {
  const versions = [version('a.example'), version('b.example')];
  const { apiServices, names, change, stop } = await start(versions);
  expect(names()).toEqual(['v1.a.example', 'v1.b.example']);
  versions.shift();
  change();
  await vi.waitFor(() => expect(names()).toEqual(['v1.b.example']));
  // Whoever takes one away sees it come again.
  await apiServices.delete('', 'v1.b.example');
  await vi.waitFor(() => expect(names()).toEqual(['v1.b.example']));
  stop();
});

test('one that cannot be written or deleted is tried again', async () => {
  const versions: ApiVersion[] = [];
  const { apiServices, report, names, change, stop } = await start(versions);
  vi.spyOn(apiServices, 'create').mockRejectedValueOnce(new Error('the store is away'));
  versions.push(version('a.example'));
  change();
  await vi.waitFor(() => expect(names()).toEqual(['v1.a.example']));
  vi.spyOn(apiServices, 'delete').mockRejectedValueOnce(new Error('the store is away'));
  versions.pop();
  change();
  await vi.waitFor(() => expect(names()).toEqual([]));
  expect(report).toHaveBeenCalledTimes(2);
  stop();
});
