import { type KeyObject, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { bitString, contextTag, der, integer, oid, sequence, set, utf8String } from '../../encoding/der.ts';
import { cellsOf, created, updated } from '../testing/kind-tester.ts';
import { certificateRequestProblem } from './certificate-request.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import { createAuthority, signCertificate } from '../../serving/certificates/create.ts';
import { tellingDurations } from './certificate-duration.ts';
import { certificateSigningRequests } from './certificate-signing-request.ts';
import { certificateProblem } from './issued-certificate.ts';

const pem = (type: string, bytes: Buffer): string => `-----BEGIN ${type}-----\n${bytes.toString('base64')}\n-----END ${type}-----\n`;

interface Keys {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

/** A request for `CN=alice`, signed with a key as an algorithm has it. */
function requestOf({ publicKey, privateKey }: Keys, algorithm: string, digest: string | null): Buffer {
  const subject = sequence(set(sequence(oid('2.5.4.3'), utf8String('alice'))));
  const content = sequence(integer(Buffer.from([0])), subject, publicKey.export({ type: 'spki', format: 'der' }), der(contextTag(0), Buffer.alloc(0)));
  return sequence(content, sequence(oid(algorithm)), bitString(sign(digest, content, privateKey)));
}

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const otherEc = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ed = generateKeyPairSync('ed25519');
const ECDSA_SHA256 = '1.2.840.10045.4.3.2';
const RSA_SHA256 = '1.2.840.113549.1.1.11';
const good = requestOf(ec, ECDSA_SHA256, 'sha256');

describe('a request in PKCS#10', () => {
  test.each([
    ['ECDSA', good, undefined],
    ['RSA', requestOf(rsa, RSA_SHA256, 'sha256'), undefined],
    ['Ed25519', requestOf(ed, '1.3.101.112', null), undefined],
    ["another's key", requestOf({ publicKey: otherEc.publicKey, privateKey: ec.privateKey }, ECDSA_SHA256, 'sha256'), 'x509: ECDSA verification failure'],
    [
      'an algorithm for other keys',
      requestOf(ec, RSA_SHA256, 'sha256'),
      'x509: signature algorithm specifies an RSA public key, but have public key of type *ecdsa.PublicKey',
    ],
    ['an unknown algorithm', requestOf(ec, '1.2.3', 'sha256'), 'x509: cannot verify signature: algorithm unimplemented'],
    ['cut off', good.subarray(0, -1), 'asn1: syntax error: data truncated'],
    ['too much', Buffer.concat([good, Buffer.from([0])]), 'asn1: syntax error: trailing data'],
    ['nothing', Buffer.alloc(0), 'asn1: syntax error: sequence truncated'],
  ])('%s', (_name, bytes, problem) => {
    expect(certificateRequestProblem(pem('CERTIFICATE REQUEST', bytes))).toBe(problem);
  });

  test('in the wrong envelope', () => {
    expect(certificateRequestProblem(pem('CERTIFICATE', good))).toBe('PEM block type must be CERTIFICATE REQUEST');
  });

  test('no bytes make it throw', () => {
    for (let index = 0; index < good.length; index++) {
      const broken = Buffer.from(good);
      broken[index] = broken[index]! ^ 0xff;
      expect(typeof certificateRequestProblem(pem('CERTIFICATE REQUEST', broken))).toMatch(/string|undefined/);
    }
  });
});

test.each([
  ['', undefined],
  ['x', 'must contain at least one CERTIFICATE PEM block'],
  [pem('KEY', Buffer.from('x')), 'only CERTIFICATE PEM blocks are allowed, found "KEY"'],
  ['-----BEGIN CERTIFICATE-----\na: b\n\neA==\n-----END CERTIFICATE-----\n', 'no PEM block headers are permitted'],
  [pem('CERTIFICATE', Buffer.from('x')), 'x509: malformed certificate'],
])('a certificate %j', (text, problem) => {
  expect(certificateProblem(text)).toBe(problem);
});

const condition = (type: string, status = 'True'): object => ({ type, status, lastUpdateTime: null, lastTransitionTime: null });

describe('signing requests', () => {
  const request = Buffer.from(pem('CERTIFICATE REQUEST', good)).toString('base64');
  const sent = (spec: object): object => ({
    metadata: { name: 'a:b', resourceVersion: '1' },
    spec: { request, signerName: 'example.com/x', usages: ['client auth'], username: 'somebody else', ...spec },
  });

  test('are made in the name of whoever sends them', () => {
    const { object, problems } = created(certificateSigningRequests, sent({ groups: ['x'], extra: { a: ['b'] } }));
    expect(problems).toEqual([]);
    expect(object.spec).toEqual({ request, signerName: 'example.com/x', usages: ['client auth'], username: 'tester' });
  });

  test.each([
    [{ usages: [] }, ['spec.usages: Required value']],
    [
      { usages: ['fun', 'any', 'any'] },
      [expect.stringContaining('spec.usages[0]: Unsupported value: "fun": supported values: "any", "cert sign"'), 'spec.usages[2]: Duplicate value: "any"'],
    ],
    [
      { signerName: 'kubernetes.io/legacy-unknown' },
      ['spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version'],
    ],
    [{ signerName: 'com/x' }, ['spec.signerName: Invalid value: "com": should be a domain with at least two segments separated by dots']],
    [{ expirationSeconds: 599 }, ['spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)']],
    [{ request: 'eA==' }, ['spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST']],
  ])('%j', (spec, problems) => {
    expect(created(certificateSigningRequests, sent(spec)).problems).toEqual(problems);
  });

  test('are decided upon once, through /approval', () => {
    const { object } = created(certificateSigningRequests, sent({ expirationSeconds: 3600 }));
    expect(cellsOf(certificateSigningRequests, object)).toMatchObject({
      SignerName: 'example.com/x',
      Requestor: 'tester',
      RequestedDuration: '60m',
      Condition: 'Pending',
    });
    const change = (conditions: object[], subresource: string, from = object) =>
      updated(certificateSigningRequests, from, (next) => void Object.assign(next, { status: { conditions } }), subresource);

    expect(change([condition('Approved', 'False')], 'approval').problems).toEqual([
      'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
    ]);
    expect(change([condition('Approved'), condition('Denied')], 'approval').problems).toEqual([
      'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ]);
    expect(change([condition('Approved')], 'status').problems).toEqual(['status.conditions: Forbidden: updates may not add a condition of type "Approved"']);

    const approved = change([condition('Approved')], 'approval');
    expect(approved.problems).toEqual([]);
    expect(approved.object.status.conditions![0]!.lastUpdateTime).toMatch(/^\d{4}-/);
    expect(cellsOf(certificateSigningRequests, approved.object)['Condition']).toBe('Approved');
    expect(change([], 'approval', approved.object).problems).toContain('status.conditions: Forbidden: updates may not remove a condition of type "Approved"');
    // The signer may not touch the decision: what it sends in its place is passed over.
    expect(change([{ ...condition('Approved'), reason: 'Mine' }], 'status', approved.object).object.status.conditions).toEqual(
      approved.object.status.conditions,
    );
  });

  test('get their certificate through /status', () => {
    const { object } = created(certificateSigningRequests, sent({}));
    const certificate = Buffer.from('no certificate').toString('base64');
    const give = (subresource: string) =>
      updated(certificateSigningRequests, object, (next) => void Object.assign(next, { status: { certificate } }), subresource).problems;
    expect(give('status')).toContain('status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block');
    expect(updated(certificateSigningRequests, object, (next) => void (next.spec.signerName = 'other.com/x')).object.spec).toEqual(object.spec);
  });

  test.each([
    ['kubernetes.io/kube-apiserver-client', 3600, 'kubernetes.io/kube-apiserver-client honored'],
    ['example.com/x', 3600, 'other honored'],
    ['example.com/x', 7200, 'other ignored'],
    ['example.com/x', undefined, undefined],
  ])('of %s for %s seconds are counted when they get a certificate of an hour', (signerName, expirationSeconds, expected) => {
    const heard: string[] = [];
    const definition = tellingDurations(certificateSigningRequests as unknown as ResourceDefinition, (signer, isHonored) =>
      heard.push(`${signer} ${isHonored ? 'honored' : 'ignored'}`),
    );
    const notBefore = new Date('2026-11-16T12:00:00Z');
    const { certPem } = signCertificate(createAuthority({ commonName: 'ca' }), {
      commonName: 'x',
      usages: ['client'],
      notBefore,
      notAfter: new Date(notBefore.getTime() + 3_700_000),
    });
    const { object: old } = created(certificateSigningRequests, sent({ signerName, ...(expirationSeconds && { expirationSeconds }) }));
    const signed = { ...old, status: { certificate: Buffer.from(certPem).toString('base64') } };
    const { afterUpdate } = definition.subresources!['status']!.update!;
    afterUpdate!(signed, old);
    afterUpdate!(signed, signed);
    expect(heard).toEqual(expected === undefined ? [] : [expected]);
  });
});
