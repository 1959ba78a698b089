import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { bitString, der, integer, oid, sequence, set, utf8String } from '../encoding/der.ts';
import { certificateApproval, certificateSigning } from './certificate-signers.ts';
import { certificateSubjectRestriction } from './certificate-subject-restriction.ts';
import { type TestEnvironment, type TestedWrite, admit, testEnvironment, writeOf } from './testing/attributes.ts';

const target = 'certificatesigningrequests.certificates.k8s.io';
const request = (status: object = {}): object => ({ spec: { signerName: 'example.com/signer' }, status });
const update = (subresource: string, status: object): TestedWrite =>
  writeOf(`${target}/${subresource}`, request(status), { operation: 'UPDATE', oldObject: writeOf(target, request()).object });
const may = (verb: string, signer: string): TestEnvironment =>
  testEnvironment((asked, resource, name) => asked === verb && resource === 'signers' && name === signer);

test('are approved by who may, for the signer or its whole domain', async () => {
  await admit(certificateApproval(may('approve', 'example.com/signer')), update('approval', {}));
  await admit(certificateApproval(may('approve', 'example.com/*')), update('approval', {}));
  await expect(admit(certificateApproval(may('sign', 'example.com/*')), update('approval', {}))).rejects.toThrow(
    'certificatesigningrequests.certificates.k8s.io "x" is forbidden: user not permitted to approve requests with signerName "example.com/signer"',
  );
});

test('are signed by who may; other changes of status are free', async () => {
  await admit(certificateSigning(may('sign', 'example.com/signer')), update('status', { certificate: 'YQ==' }));
  await admit(certificateSigning(testEnvironment()), update('status', {}));
  for (const status of [{ certificate: 'YQ==' }, { conditions: [{ type: 'Failed' }] }]) {
    await expect(admit(certificateSigning(testEnvironment()), update('status', status))).rejects.toThrow(
      'user not permitted to sign requests with signerName "example.com/signer"',
    );
  }
});

test('of the cluster’s own signer are not for system:masters', async () => {
  const own = 'kubernetes.io/kube-apiserver-client';
  await admit(certificateSubjectRestriction, asking(own, 'devs'));
  await admit(certificateSubjectRestriction, asking('example.com/signer', 'system:masters'));
  await expect(admit(certificateSubjectRestriction, asking(own, 'system:masters'))).rejects.toThrow(
    'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
  );
});

const asking = (signerName: string, organization: string): TestedWrite =>
  writeOf(target, { spec: { signerName, request: Buffer.from(certificateRequest(organization)).toString('base64') } });

const name = (type: string, value: string): Buffer => set(sequence(oid(type), utf8String(value)));

/** Its signature is not looked at here. */
function certificateRequest(organization: string): string {
  const publicKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'der' });
  const content = sequence(integer(Buffer.from([0])), sequence(name('2.5.4.3', 'someone'), name('2.5.4.10', organization)), publicKey, der(0xa0));
  const bytes = sequence(content, sequence(oid('1.2.840.10045.4.3.2')), bitString(Buffer.from([0])));
  return `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}
