import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readPluginConfiguration as readWithGates } from './configuration.ts';

const readPluginConfiguration = (plugin: string, text: string, isEnabled = false) => readWithGates(plugin, text, () => isEnabled);

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

const folder = mkdtempSync(join(tmpdir(), 'binnacle-admission-'));
afterAll(() => rmSync(folder, { recursive: true }));
const kubeconfig = join(folder, 'kubeconfig');
writeFileSync(
  kubeconfig,
  `clusters: [{name: c, cluster: {server: 'https://images.example.com/policy'}}]
users: [{name: u, user: {token: secret}}, {name: '*.web.svc', user: {username: a, password: b}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`,
);

describe('how images are checked', () => {
  const read = (fields: string) => readPluginConfiguration('ImagePolicyWebhook', `imagePolicy: {kubeConfigFile: ${kubeconfig}${fields}}`);

  test('times have units, defaults, and -1 for none', async () => {
    const endpoint = { url: new URL('https://images.example.com/policy'), authorization: expect.any(Function) as unknown };
    expect(await read('')).toEqual({ imagePolicy: { endpoint, retryDelayMs: 500, allowTtlMs: 300_000, denyTtlMs: 30_000, isAllowedOnFailure: false } });
    expect(await read(', allowTTL: 50, denyTTL: -1, retryBackoff: 7, defaultAllow: true')).toEqual({
      imagePolicy: { endpoint, retryDelayMs: 7, allowTtlMs: 50_000, denyTtlMs: 0, isAllowedOnFailure: true },
    });
  });

  test.each([
    [', allowTTL: 3600', 'valid value is between 1s and 30m0s, got 1h0m0s'],
    [', denyTTL: -2', 'valid value is between 1s and 30m0s, got -2s'],
    [', retryBackoff: 300001', 'valid value is between 1ns and 5m0s, got 5m0.001s'],
    [', allowTTL: soon', 'json: cannot unmarshal string into Go struct field imagePolicyWebhookConfig.imagePolicy.allowTTL of type time.Duration'],
    [', defaultAllow: 1', 'json: cannot unmarshal number 1 into Go struct field imagePolicyWebhookConfig.imagePolicy.defaultAllow of type bool'],
  ])('%s is refused', async (fields, message) => {
    await expect(read(fields)).rejects.toThrow(message);
  });

  test('nobody to ask is refused', async () => {
    await expect(readPluginConfiguration('ImagePolicyWebhook', 'imagePolicy: {}')).rejects.toThrow('no configuration has been provided');
    await expect(readPluginConfiguration('ImagePolicyWebhook', 'imagePolicy: {kubeConfigFile: /none/such}')).rejects.toThrow('no such file');
  });
});

describe('whom webhooks are called as', () => {
  const read = (rest: string, isEnabled = false) =>
    readPluginConfiguration('ValidatingAdmissionWebhook', yaml('WebhookAdmissionConfiguration', 'apiserver.config.k8s.io/v1', rest), isEnabled);

  test('is what the kubeconfig says, by the names of its users', async () => {
    const { validatingWebhookUsers: users } = await read(`kubeConfigFile: ${kubeconfig}`);
    expect([...users!.byName.keys()]).toEqual(['u', '*.web.svc']);
    expect(await users!.current!.authorization!()).toBe('Bearer secret');
    expect(await read('')).toEqual({});
  });

  test.each([
    ['kubeConfigFile: relative', false, 'kubeConfigFile: Invalid value: "relative": must be an absolute file path'],
    [
      'staticManifestsDir: /etc',
      false,
      'staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled',
    ],
    ['staticManifestsDir: etc', true, 'staticManifestsDir: Invalid value: "etc": must be an absolute file path'],
    ['staticManifestsDir: /etc/passwd', true, 'staticManifestsDir: Invalid value: "/etc/passwd": must be a directory'],
    ['staticManifestsDir: /no/such/folder', true, 'staticManifestsDir: Invalid value: "/no/such/folder": unable to read: ENOENT'],
    ['kubeconfigFile: /x', false, 'strict decoding error: unknown field "kubeconfigFile"'],
  ])('%s (gate on: %s) is refused', async (rest, isEnabled, message) => {
    await expect(read(rest, isEnabled)).rejects.toThrow(message);
  });
});

test('policies have manifests to configure, and nothing else', async () => {
  const text = (rest: string) => yaml('ValidatingAdmissionPolicyConfiguration', 'apiserver.config.k8s.io/v1', rest);
  expect(await readPluginConfiguration('ValidatingAdmissionPolicy', text(''))).toEqual({});
  await expect(readPluginConfiguration('ValidatingAdmissionPolicy', text('staticManifestsDir: /x'))).rejects.toThrow('requires the ManifestBased');
  await expect(readPluginConfiguration('MutatingAdmissionPolicy', text(''))).rejects.toThrow('no kind "ValidatingAdmissionPolicyConfiguration"');
});
