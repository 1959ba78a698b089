import { describe, expect, test } from 'vitest';
import { parseEncryptionConfiguration } from './configuration.ts';
import { checkConfiguration } from './validate-configuration.ts';

const KEY = 'c2VjcmV0IGlzIHNlY3VyZQ==';
const fileWith = (resources: unknown): string => JSON.stringify({ kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1', resources });
const aescbc = (...keys: unknown[]) => ({ aescbc: { keys } });
const kms = (more: object = {}) => ({ kms: { apiVersion: 'v2', name: 'foo', endpoint: 'unix:///tmp/testprovider.sock', ...more } });

async function problem(resources: unknown, reloads = false): Promise<string> {
  const configuration = await parseEncryptionConfiguration(fileWith(resources));
  try {
    checkConfiguration(configuration, reloads);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

const forSecrets = (...providers: unknown[]) => [{ resources: ['secrets'], providers }];

test('a file in YAML, with the defaults of a plug-in', async () => {
  const text = `
kind: EncryptionConfiguration
apiVersion: apiserver.config.k8s.io/v1
resources:
  - resources: [secrets, "*.apps"]
    providers:
      - aescbc: {keys: [{name: key1, secret: ${KEY}}]}
      - kms: {apiVersion: v2, name: foo, endpoint: unix:///tmp/x.sock, timeout: 1m2s}
      - kms: {name: bar, endpoint: unix:///tmp/y.sock}
      - identity: {}
`;
  expect(await parseEncryptionConfiguration(text)).toEqual({
    resources: [
      {
        resources: ['secrets', '*.apps'],
        providers: [
          { aescbc: { keys: [{ name: 'key1', secret: KEY }] } },
          { kms: { apiVersion: 'v2', name: 'foo', endpoint: 'unix:///tmp/x.sock', timeoutMs: 62_000 } },
          { kms: { apiVersion: 'v1', name: 'bar', endpoint: 'unix:///tmp/y.sock', timeoutMs: 3_000, cachesize: 1000 } },
          { identity: {} },
        ],
      },
    ],
  });
});

test.each([
  ['{"kind":"EncryptionConfiguration"}', /Object 'apiVersion' is missing/],
  ['{"kind":"EncryptionConfig","apiVersion":"v1"}', /no kind "EncryptionConfig" is registered for version "v1"/],
  [fileWith([{ resources: ['secrets'], provider: [] }]), /strict decoding error: unknown field "resources\[0\]\.provider"/],
])('no configuration: %s', async (text, message) => {
  await expect(parseEncryptionConfiguration(text)).rejects.toThrow(message);
});

describe('what is wrong is told in the words of the reference', () => {
  test.each([
    [[], 'resources: Required value: at least one resources is required'],
    [[{ resources: [], providers: [{ identity: {} }] }], 'resources[0].resources: Required value: at least one resources[0].resources is required'],
    [forSecrets(), 'resources[0].providers: Required value: at least one resources[0].providers is required'],
    [
      forSecrets({}),
      'resources[0].providers[0]: Invalid value: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity',
    ],
    [
      forSecrets({ identity: {}, ...aescbc({ name: 'a', secret: KEY }) }),
      'resources[0].providers[0]: Invalid value: more than one provider specified in a single element, should split into different list elements',
    ],
    [forSecrets(aescbc()), 'resources[0].providers[0].aescbc.keys: Required value: at least one keys is required'],
    [forSecrets(aescbc({ secret: KEY })), 'resources[0].providers[0].aescbc.keys[0].name: Required value: name is a mandatory field for a key'],
    [forSecrets(aescbc({ name: 'a' })), 'resources[0].providers[0].aescbc.keys[0].secret: Required value: secret is a mandatory field for a key'],
    [
      forSecrets(aescbc({ name: 'a', secret: 'not base64!' })),
      'resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded',
    ],
    [
      forSecrets(aescbc({ name: 'a', secret: 'YWJj' })),
      'resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 3, expected one of [16 24 32]',
    ],
    [
      forSecrets({ secretbox: { keys: [{ name: 'a', secret: KEY }] } }),
      'resources[0].providers[0].secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 16, expected one of [32]',
    ],
    [forSecrets(kms({ name: '' })), 'resources[0].providers[0].kms.name: Required value: name is a mandatory field for a provider'],
    [forSecrets(kms({ name: 'a:b' })), `resources[0].providers[0].kms.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':'`],
    [forSecrets(kms(), kms()), 'resources[0].providers[1].kms.name: Invalid value: "foo": duplicate KMS provider name foo, names must be unique'],
    [forSecrets(kms({ timeout: '0s' })), 'resources[0].providers[0].kms.timeout: Invalid value: "0s": timeout should be a positive value'],
    [forSecrets(kms({ endpoint: '' })), 'resources[0].providers[0].kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms'],
    [
      forSecrets(kms({ endpoint: 'tcp://127.0.0.1:1' })),
      'resources[0].providers[0].kms.endpoint: Invalid value: "tcp://127.0.0.1:1": unsupported scheme "tcp" for KMS provider, only unix is supported',
    ],
    [forSecrets(kms({ cachesize: 5 })), 'resources[0].providers[0].kms.cachesize: Invalid value: 5: cachesize is not supported in v2'],
    [
      forSecrets(kms({ apiVersion: 'v3' })),
      'resources[0].providers[0].kms.apiVersion: Invalid value: "v3": unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported',
    ],
  ])('%j', async (resources, message) => expect(await problem(resources)).toBe(message));

  test.each([
    [['Secrets'], 'resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters'],
    [['*'], `resources[0].resources[0]: Invalid value: "*": use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources`],
    [['apiserveripinfo'], 'resources[0].resources[0]: Invalid value: "apiserveripinfo": resources which do not have REST API/s cannot be encrypted'],
    [
      ['events.events.k8s.io'],
      `resources[0].resources[0]: Invalid value: "events.events.k8s.io": '*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file`,
    ],
    [['*.extensions'], `resources[0].resources[0]: Invalid value: "*.extensions": 'extensions' group has been removed and cannot be used for encryption`],
    [['secrets.*'], 'resources[0].resources[0]: Invalid value: "secrets.*": encrypting the same resource across groups is not supported'],
    [['secrets', 'secrets'], 'resources[0].resources: Invalid value: ["secrets","secrets"]: the same resource cannot be specified multiple times'],
    [
      ['secrets', '*.'],
      `resources[0].resources: Invalid value: ["secrets","*."]: using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked`,
    ],
    [
      ['*.*', 'deployments.apps'],
      `resources[0].resources: Invalid value: ["*.*","deployments.apps"]: using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked`,
    ],
    [['secrets', 'configmaps', '*.apps'], ''],
  ])('%j', async (resources, message) => expect(await problem([{ resources, providers: [{ identity: {} }] }])).toBe(message));

  test('several at once', async () => {
    expect(await problem(forSecrets(aescbc({ secret: KEY }), kms({ name: '' })))).toBe(
      '[resources[0].providers[0].aescbc.keys[0].name: Required value: name is a mandatory field for a key, resources[0].providers[1].kms.name: Required value: name is a mandatory field for a provider]',
    );
  });

  test('names of v1 plug-ins must differ only where the file is followed', async () => {
    const twice = forSecrets(kms({ apiVersion: 'v1' }), kms({ apiVersion: 'v1' }));
    expect(await problem(twice)).toBe('');
    expect(await problem(twice, true)).toContain('duplicate KMS provider name foo, names must be unique');
  });
});

test('no secret is shown', async () => {
  expect(await problem(forSecrets({ identity: {}, ...aescbc({ name: 'a', secret: KEY }) }))).not.toContain(KEY);
});
