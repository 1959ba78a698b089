import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadAbacFile } from './abac.ts';
import { parseAuthorizationConfiguration } from './authorization-configuration.ts';
import type { ConditionCompiler } from './match-conditions.ts';

const folder = mkdtempSync(join(tmpdir(), 'binnacle-authorization-'));
afterAll(() => rmSync(folder, { recursive: true }));
const kubeConfigFile = join(folder, 'kubeconfig');
writeFileSync(kubeConfigFile, '');

const compile: ConditionCompiler = (text) => {
  if (text.includes('!')) throw new Error('compilation failed');
  return { text, holds: () => true };
};
const parse = (authorizers: unknown, version = 'v1') =>
  parseAuthorizationConfiguration(
    JSON.stringify({ apiVersion: `apiserver.config.k8s.io/${version}`, kind: 'AuthorizationConfiguration', authorizers }),
    compile,
  );
const webhook = { timeout: '3s', subjectAccessReviewVersion: 'v1', failurePolicy: 'Deny', connectionInfo: { type: 'KubeConfigFile', kubeConfigFile } };
const hook = (more: object = {}) => ({ type: 'Webhook', name: 'hook', webhook: { ...webhook, ...more } });

test.each(['v1', 'v1beta1', 'v1alpha1'])('%s: what is left out has its default', async (version) => {
  const condition = { matchConditionSubjectAccessReviewVersion: 'v1', matchConditions: [{ expression: "request.user == 'x'" }] };
  expect(await parse([hook(condition), { type: 'RBAC', name: 'rbac' }], version)).toEqual([
    {
      type: 'Webhook',
      name: 'hook',
      webhook: {
        timeoutMs: 3_000,
        authorizedTtlMs: 300_000,
        unauthorizedTtlMs: 30_000,
        subjectAccessReviewVersion: 'v1',
        failurePolicy: 'Deny',
        kubeConfigFile,
        matchConditions: ["request.user == 'x'"],
      },
    },
    { type: 'RBAC', name: 'rbac' },
  ]);
  const [{ webhook: uncached } = {}] = await parse([hook({ cacheAuthorizedRequests: false, cacheUnauthorizedRequests: false, authorizedTTL: '1m' })]);
  expect(uncached).toMatchObject({ authorizedTtlMs: 0, unauthorizedTtlMs: 0 });
});

test.each<[unknown, string]>([
  [[], 'authorizers: Required value: at least one authorization mode must be defined'],
  [[{ name: 'x' }], 'authorizers[0].type: Required value'],
  [
    [{ type: 'Maybe', name: 'x' }],
    'authorizers[0].type: Unsupported value: "Maybe": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"',
  ],
  [
    [
      { type: 'RBAC', name: 'rbac' },
      { type: 'RBAC', name: 'rbac' },
    ],
    'authorizers[1].type: Duplicate value: "RBAC"',
  ],
  [[{ type: 'RBAC' }], 'authorizers[0].name: Required value'],
  [[{ type: 'RBAC', name: 'roles' }], 'expected name rbac for authorizer RBAC instead of roles'],
  [[hook(), hook()], 'authorizers[1].name: Duplicate value: "hook"'],
  [[{ type: 'Webhook', name: 'A B', webhook }], 'authorizers[0].name: Invalid value: "A B": authorizer name is invalid: '],
  [[{ type: 'Webhook', name: 'hook' }], 'authorizers[0].webhook: Required value: required when type=Webhook'],
  [[{ type: 'RBAC', name: 'rbac', webhook }], 'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook'],
  [[hook({ timeout: '0s' })], 'authorizers[0].timeout: Required value'],
  [[hook({ timeout: '31s' })], 'authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s'],
  [[hook({ authorizedTTL: '-1s' })], 'authorizers[0].authorizedTTL: Invalid value: "-1s": must be > 0s'],
  [[hook({ subjectAccessReviewVersion: 'v2' })], 'authorizers[0].subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"'],
  [[hook({ failurePolicy: '' })], 'authorizers[0].failurePolicy: Required value'],
  [[hook({ failurePolicy: 'Allow' })], 'authorizers[0].failurePolicy: Unsupported value: "Allow": supported values: "NoOpinion", "Deny"'],
  [[hook({ connectionInfo: {} })], 'authorizers[0].connectionInfo.type: Required value'],
  [
    [hook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'relative' } })],
    'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "relative": must be an absolute path',
  ],
  [[hook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: folder } })], 'must be a regular file'],
  [[hook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: `${folder}/none` } })], 'error loading file'],
  [
    [hook({ matchConditions: [{ expression: 'true' }] })],
    'authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified',
  ],
  [
    [hook({ matchConditionSubjectAccessReviewVersion: 'v1', matchConditions: [{ expression: ' ' }, { expression: '!' }, { expression: '!' }] })],
    '[authorizers[0].matchConditions[0].expression: Required value, authorizers[0].matchConditions[1].expression: Invalid value: "!": compilation failed, authorizers[0].matchConditions[2].expression: Duplicate value: "!"]',
  ],
  [
    [{ type: 'RBAC', name: 'rbac', extra: 1 }],
    'failed to load AuthorizationConfiguration from file: strict decoding error: unknown field "authorizers[0].extra"',
  ],
])('%j is refused', async (authorizers, message) => {
  await expect(parse(authorizers)).rejects.toThrow(message);
});

test('other kinds and odd texts', async () => {
  await expect(parseAuthorizationConfiguration('', compile)).rejects.toThrow('failed to load AuthorizationConfiguration from file: ');
  await expect(parseAuthorizationConfiguration('kind: Pod\napiVersion: v1', compile)).rejects.toThrow('no kind "Pod" is registered for version "v1"');
  await expect(parseAuthorizationConfiguration('a: b', compile)).rejects.toThrow("Object 'Kind' is missing in 'a: b'");
});

test.each([
  ['{"user": 7}', 'line 1: {"user": 7}: user is no text'],
  ['# fine\n{', 'line 2: {: unexpected end of JSON input'],
  ['{"apiVersion":"v9","kind":"Policy"}', 'unrecognized object: Policy of v9'],
])('an ABAC policy of %j is refused', (text, message) => {
  const path = join(folder, 'policy');
  writeFileSync(path, text);
  expect(() => loadAbacFile(path, () => {})).toThrow(message);
});
