import { expect, test } from 'vitest';
import { readPluginConfiguration } from './configuration.ts';

const yaml = (kind: string, apiVersion: string, rest: string): string => `kind: ${kind}\napiVersion: ${apiVersion}\n${rest}`;

test('limits of events', async () => {
  const read = (rest: string) => readPluginConfiguration('EventRateLimit', yaml('Configuration', 'eventratelimit.admission.k8s.io/v1alpha1', rest));
  expect(await read('limits: [{type: User, qps: 5, burst: 10}]')).toEqual({ eventLimits: [{ type: 'User', qps: 5, burst: 10, cacheSize: 0 }] });
  await expect(read('limits: []')).rejects.toThrow('limits: Invalid value: null: must not be empty');
  await expect(read('limits: [{type: User, qps: 0, burst: 1}]')).rejects.toThrow('limits[0].qps: Invalid value: 0: must be positive');
  await expect(read('limit: []')).rejects.toThrow('strict decoding error: unknown field "limit"');
});

test('selectors of nodes need no kind', async () => {
  expect(await readPluginConfiguration('PodNodeSelector', 'podNodeSelectorPluginConfig: {team: a=b}')).toEqual({ nodeSelectors: { team: 'a=b' } });
});

test('what quotas must cover', async () => {
  const limited = { apiGroup: '', resource: 'pods', matchContains: ['cpu'], matchScopes: [] };
  const rest = 'limitedResources: [{resource: pods, matchContains: [cpu]}]';
  for (const [kind, version] of [
    ['ResourceQuotaConfiguration', 'apiserver.config.k8s.io/v1'],
    ['Configuration', 'resourcequota.admission.k8s.io/v1beta1'],
  ] as const)
    expect(await readPluginConfiguration('ResourceQuota', yaml(kind, version, rest))).toEqual({ limitedResources: [limited] });
});

test('defaults and exemptions of pod security', async () => {
  const read = (rest: string) => readPluginConfiguration('PodSecurity', yaml('PodSecurityConfiguration', 'pod-security.admission.config.k8s.io/v1', rest));
  expect(await read('defaults: {enforce: baseline, enforce-version: v1.30}\nexemptions: {namespaces: [a]}')).toEqual({
    podSecurity: { defaults: { enforce: 'baseline', 'enforce-version': 'v1.30' }, usernames: new Set(), namespaces: new Set(['a']), runtimeClasses: new Set() },
  });
  await expect(read('defaults: {enforce: strict}')).rejects.toThrow('must be one of privileged, baseline, restricted');
});
