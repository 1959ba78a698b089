import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePolicy } from '../../src/audit/policy-file.ts';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import { pemBlocks } from '../../src/encoding/pem.ts';
import type { FuzzTarget } from '../target.ts';

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
