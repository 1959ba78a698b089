import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { cellsOf, created, updated } from '../testing/kind-tester.ts';
import { clusterTrustBundles } from './cluster-trust-bundle.ts';
import { podCertificateRequests } from './pod-certificate-request.ts';

const keys = generateKeyPairSync('ed25519');
const pkixPublicKey = keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
const proofOfPossession = sign(null, Buffer.from('u1'), keys.privateKey).toString('base64');
const spec = {
  signerName: 'example.com/x',
  podName: 'p',
  podUID: 'u1',
  serviceAccountName: 'default',
  serviceAccountUID: 'u2',
  nodeName: 'n1',
  nodeUID: 'u3',
  maxExpirationSeconds: 3600,
  pkixPublicKey,
  proofOfPossession,
};
const request = (more: object = {}) => created(podCertificateRequests, { metadata: { name: 'r', namespace: 'default' }, spec: { ...spec, ...more } });
const condition = (type: string) => ({ type, status: 'True', reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' });

describe("a request for a pod's certificate", () => {
  test.each<[object, string[]]>([
    [{}, []],
    [{ podUID: 'u9' }, ['spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature']],
    [{ proofOfPossession: null }, ['spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set']],
    [{ pkixPublicKey: 'eA==' }, ['spec.pkixPublicKey: Invalid value: "eA==": must be a valid PKIX-serialized public key']],
    [{ maxExpirationSeconds: 60 }, ['spec.maxExpirationSeconds: Invalid value: 60: must be in the range [3600, 7862400]']],
    [{ signerName: 'kubernetes.io/x', maxExpirationSeconds: 90_000 }, ['spec.maxExpirationSeconds: Invalid value: 90000: must be in the range [3600, 86400]']],
    [{ unverifiedUserAnnotations: { a: 'b' } }, ['spec.unverifiedUserAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")']],
  ])('%j', (more, problems) => expect(request(more).problems).toEqual(problems));

  test('gets one outcome', () => {
    const { object } = request();
    const denied = updated(podCertificateRequests, object, (next) => (next.status = { conditions: [condition('Denied')] }), 'status');
    expect(denied.problems).toEqual([]);
    expect(cellsOf(podCertificateRequests, denied.object)).toMatchObject({ State: 'Denied', UnverifiedUserAnnotations: '<none>' });
    const outcomes = (conditions: object[], more = {}) =>
      updated(podCertificateRequests, object, (next) => (next.status = { conditions: conditions as never, ...more }), 'status').problems;
    expect(outcomes([condition('Maybe')])).toEqual(['status.conditions.[0].type: Unsupported value: "Maybe": supported values: "Issued", "Denied", "Failed"']);
    expect(outcomes([condition('Failed')], { certificateChain: 'x' })).toEqual([
      'status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest',
    ]);
    expect(outcomes([condition('Issued')])).toEqual([
      'status.certificateChain: Invalid value: "": issued certificate chain must contain at least one certificate',
    ]);
    expect(outcomes([], { certificateChain: 'x' })).toEqual([
      'status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"',
    ]);
  });
});

describe('a bundle to trust', () => {
  const problemsOf = (name: string, bundle: object): string[] => created(clusterTrustBundles, { metadata: { name }, spec: bundle }).problems;

  test.each<[string, object, string[]]>([
    ['a', { trustBundle: '' }, ['spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided']],
    [
      'a:b',
      { trustBundle: '-----BEGIN X-----\n-----END X-----\n' },
      [
        'metadata.name: Invalid value: "a:b": ClusterTrustBundle without signer name must not have ":" in its name',
        'spec.trustBundle: Invalid value: "<value omitted>": entry 0 has bad block type: X',
      ],
    ],
    [
      'a',
      { signerName: 'example.com/s', trustBundle: '-----BEGIN CERTIFICATE-----\neA==\n-----END CERTIFICATE-----\n' },
      [
        'metadata.name: Invalid value: "a": ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:',
        'spec.trustBundle: Invalid value: "<value omitted>": entry 0 does not parse as X.509',
      ],
    ],
  ])('%s %j', (name, bundle, problems) => expect(problemsOf(name, bundle)).toEqual(problems));
});
