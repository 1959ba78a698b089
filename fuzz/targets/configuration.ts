import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readManifests } from '../../src/admission/manifests/load-manifests.ts';
import { manifestSets } from '../../src/admission/manifests/manifest-kinds.ts';
import { parsePolicy } from '../../src/audit/policy-file.ts';
import { readCredential } from '../../src/client/exec-credential.ts';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import { pemBlocks } from '../../src/encoding/pem.ts';
import { DEFAULT_SETTINGS } from '../../src/apis/features.ts';
import { type FuzzTarget, WrongAnswer } from '../target.ts';

/* Files that an operator writes. They are trusted, but a slip in one must be told as such. */

const YAML_TOKENS = ['- ', ': ', '\n', '\n  ', '{', '}', '[', ']', 'null', '"', '*', '&a ', '|', '#'];

export const auditPolicy: FuzzTarget = {
  name: 'audit-policy',
  seeds: () => [
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- level: Metadata\n  users: [a]\n  verbs: [get]\n  resources:\n  - group: ""\n    resources: [pods/*, "*/status"]\n- level: None\n  nonResourceURLs: [/healthz*]\n',
  ],
  tokens: [...YAML_TOKENS, 'level: ', 'rules:', 'resources:', 'RequestResponse'],
  refusals: [Error],
  async run(input) {
    await parsePolicy(input.toString(), () => {});
  },
};

let file: string | undefined;

export const kubeconfig: FuzzTarget = {
  name: 'kubeconfig',
  seeds: () => [
    'apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts:\n- name: a\n  context: {cluster: c, user: u}\nclusters:\n- name: c\n  cluster: {server: "https://a:443", certificate-authority-data: aGk=}\nusers:\n- name: u\n  user: {token: t}\n',
  ],
  tokens: [...YAML_TOKENS, 'server: ', 'https://', 'token: ', 'username: '],
  refusals: [Error],
  async run(input) {
    file ??= join(mkdtempSync(join(tmpdir(), 'binnacle-fuzz-')), 'kubeconfig');
    writeFileSync(file, input);
    await loadKubeconfig(file);
  },
};

export const pem: FuzzTarget = {
  name: 'pem',
  seeds: () => ['text\n-----BEGIN CERTIFICATE-----\nX: y\n\naGVsbG8=\n-----END CERTIFICATE-----\n-----BEGIN A-----\n-----END A-----\n'],
  tokens: ['-----BEGIN ', '-----END ', '-----', '\n', '=', 'aGk=', ': ', '\r\n'],
  refusals: [],
  run(input) {
    Array.from(pemBlocks(input.toString()));
  },
};

const WEBHOOKS = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: a.static.k8s.io}
webhooks:
- name: a.example.com
  clientConfig: {url: "https://a.example.com/"}
  rules: [{operations: ["*"], apiGroups: [""], apiVersions: [v1], resources: [pods/*]}]
  matchConditions: [{name: a, expression: "request.name != 'x'"}]
  sideEffects: None
  admissionReviewVersions: [v1]
`;
const POLICIES = `apiVersion: v1
kind: List
items:
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: p.static.k8s.io}
  spec:
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
    validations: [{expression: "object.metadata.name.startsWith('a')", message: no}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: b.static.k8s.io}
  spec: {policyName: p.static.k8s.io, validationActions: [Deny]}
`;
const KINDS = [...manifestSets.values()].flatMap(({ kinds }) => kinds);

/** The folder of webhooks and policies that no client can change. */
export const staticManifests: FuzzTarget = {
  name: 'static-manifests',
  seeds: () => [WEBHOOKS, POLICIES],
  tokens: [...YAML_TOKENS, 'kind: ', 'List', 'items:', '.static.k8s.io', 'url: ', 'service: ', 'expression: ', 'paramKind: ', 'metadata: '],
  refusals: [Error],
  async run(input) {
    const objects = await readManifests([{ path: '/a.yaml', text: input.toString() }], KINDS, DEFAULT_SETTINGS);
    return () => {
      for (const { metadata } of [...objects.values()].flat())
        if (!metadata.name?.endsWith('.static.k8s.io')) throw new WrongAnswer(`${metadata.name} may be the name of a client's object`);
    };
  },
};

/** What a credential plug-in of a kubeconfig writes. */
export const execCredential: FuzzTarget = {
  name: 'exec-credential',
  seeds: () => [
    '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t","expirationTimestamp":"2026-01-02T03:04:05Z"}}',
    '{"status":{"clientCertificateData":"-----BEGIN CERTIFICATE-----","clientKeyData":"-----BEGIN PRIVATE KEY-----"}}',
  ],
  isJson: true,
  refusals: [Error],
  run(input) {
    const { token, clientCertificate } = readCredential('plugin', input.toString());
    return () => {
      if (token === undefined && clientCertificate === undefined) throw new WrongAnswer('nothing was taken for a credential');
    };
  },
};
