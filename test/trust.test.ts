import { type KeyObject, generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodePem } from '../src/serving/certificates/pem.ts';
import { type CertificateRecipe, type MadeCertificate, type Name, makeCertificates } from '../src/serving/certificates/test-certificates.ts';
import { bitString, contextTag, der, integer, oid, sequence, set, utf8String } from '../src/encoding/der.ts';
import { eventually, waitForAvailability } from './support/aggregation.ts';
import type { ApiClient } from './support/api-client.ts';
import { Clients } from './support/kubectl.ts';
import { type ServerProcess, startServer, temporaryFolder } from './support/server.ts';

/*
 * Whom the server trusts, both ways, as Go's crypto/x509 decides it: real webhooks, converters and aggregated servers with certificates as projects have
 * them, and real clients. What is decided about which chain is in src/serving/certificates/chains.test.ts; messages were compared with kube-apiserver v1.36.4.
 */

const NAMES: Name[] = ['dns:localhost', 'dns:backend.default.svc', 'ip:127.0.0.1'];
const ROOT: CertificateRecipe = { ca: true, keyUsage: 0x84 };
const LEAF: CertificateRecipe = { by: 'root', usages: ['server'], names: NAMES };
const KNATIVE = {
  subject: [
    ['2.5.4.10', 'knative.dev'],
    ['2.5.4.3', 'backend.default.svc'],
  ],
  names: NAMES,
} as const;

interface Trust {
  certificates: Record<string, CertificateRecipe>;
  served?: string[];
  caBundle: string;
}

const WORKING: [string, Trust][] = [
  ['the serving certificate itself', { certificates: { root: ROOT, leaf: LEAF }, caBundle: 'leaf' }],
  ['a self-signed serving certificate', { certificates: { leaf: { ...LEAF, by: undefined } }, caBundle: 'leaf' }],
  [
    'only the intermediate',
    { certificates: { root: ROOT, middle: { ...ROOT, by: 'root' }, leaf: { ...LEAF, by: 'middle' } }, served: ['leaf', 'middle'], caBundle: 'middle' },
  ],
  [
    'an authority that shares its subject with the leaf, which has no key identifiers (knative)',
    {
      certificates: {
        root: { ...KNATIVE, ...ROOT, usages: ['server', 'client'], authorityKeyId: false },
        leaf: { ...KNATIVE, by: 'root', keyUsage: 0x80, usages: ['server'], subjectKeyId: false, authorityKeyId: false },
      },
      caBundle: 'root',
    },
  ],
];

const REFUSED: [string, Trust, string][] = [
  [
    'an authority of the same name',
    { certificates: { root: ROOT, other: { ...ROOT, subject: 'root' }, leaf: LEAF }, caBundle: 'other' },
    'tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority certificate "root")',
  ],
  [
    'a certificate for clients',
    { certificates: { root: ROOT, leaf: { ...LEAF, usages: ['client'] } }, caBundle: 'root' },
    'tls: failed to verify certificate: x509: certificate specifies an incompatible key usage',
  ],
  [
    'a negative serial number',
    { certificates: { root: ROOT, leaf: { ...LEAF, serial: [0xff] } }, caBundle: 'root' },
    'tls: failed to parse certificate from server: x509: negative serial number',
  ],
];

const pemOf = (certificate: MadeCertificate): string => encodePem('CERTIFICATE', certificate.der);
const keyPemOf = ({ key }: MadeCertificate): string => key!.export({ type: 'pkcs8', format: 'pem' }).toString();

interface Review {
  kind: string;
  request: { uid: string; desiredAPIVersion: string; objects: object[] };
}

/** An admission webhook, a converter and an aggregated server in one. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  response.setHeader('content-type', 'application/json');
  if (request.method === 'GET') return void response.end(JSON.stringify({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'g/v1', resources: [] }));
  const review = JSON.parse(Buffer.concat(chunks).toString()) as Review;
  const { uid, desiredAPIVersion: apiVersion } = review.request;
  const conversion = { result: { status: 'Success' }, convertedObjects: review.request.objects?.map((object) => Object.assign(object, { apiVersion })) };
  response.end(JSON.stringify({ ...review, response: { uid, ...(review.kind === 'ConversionReview' ? conversion : { allowed: true }) } }));
}

async function startRemote({ certificates, served = ['leaf'], caBundle }: Trust): Promise<{ port: number; caBundle: string }> {
  const made = makeCertificates(certificates, new Date());
  const cert = served.map((name) => pemOf(made.get(name)!)).join('');
  const server = createServer({ cert, key: keyPemOf(made.get('leaf')!) }, (request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  afterAll(() => void server.close().closeAllConnections());
  return { port: (server.address() as AddressInfo).port, caBundle: Buffer.from(pemOf(made.get(caBundle)!)).toString('base64') };
}

let front: ServerProcess;
let api: ApiClient;
let count = 0;

const roots = makeCertificates({ v1: { version: 1, subject: 'old-ca', until: 9e7 }, rsa: { ...ROOT, key: 'rsa2048', until: 9e7 } }, new Date());

beforeAll(async () => {
  const clientCa = join(temporaryFolder(), 'client-ca.crt');
  writeFileSync(clientCa, [...roots.values()].map(pemOf).join(''));
  front = await startServer({ flags: [`--client-ca-file=${clientCa}`] });
  api = front.client();
  await api.create('/api/v1/namespaces/default/services', { metadata: { name: 'backend' }, spec: { type: 'ExternalName', externalName: 'localhost' } });
});

/** The answer to a create that an admission webhook is asked about. */
async function admitted({ port, caBundle }: { port: number; caBundle: string }): Promise<string> {
  const name = `hook${++count}`;
  await api.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name },
    webhooks: [
      {
        name: 'hook.example.com',
        rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        objectSelector: { matchLabels: { case: name } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        clientConfig: { url: `https://localhost:${port}/review`, caBundle },
      },
    ],
  });
  const { status, text } = await api.send({
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    body: { metadata: { name, labels: { case: name } } },
  });
  return status === 201 ? 'works' : (JSON.parse(text) as { message: string }).message;
}

/** The answer to a get in a version that a converter is asked for. */
async function converted({ port, caBundle }: { port: number; caBundle: string }): Promise<string> {
  const group = `g${++count}.example.com`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema })),
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: `https://localhost:${port}/convert`, caBundle } } },
    },
  });
  const things = (version: string): string => `/apis/${group}/${version}/namespaces/default/things`;
  await api.create(things('v1'), { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'x' } });
  const { status, text } = await api.send({ path: `${things('v2')}/x` });
  return status === 200 ? 'works' : (JSON.parse(text) as { message: string }).message;
}

/** What is told of an aggregated server's availability. */
async function aggregated({ port, caBundle }: { port: number; caBundle: string }, reason: string): Promise<string> {
  const group = `a${++count}.example.com`;
  await api.create('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: `v1.${group}` },
    spec: { group, version: 'v1', groupPriorityMinimum: 1000, versionPriority: 10, caBundle, service: { namespace: 'default', name: 'backend', port } },
  });
  const { message } = await waitForAvailability(front, `v1.${group}`, reason);
  if (reason === 'Passed') await eventually(() => api.expect(200, { path: `/apis/${group}/v1` }));
  return message;
}

describe.each(WORKING)('a caBundle of %s', (_name, trust) => {
  test('works for an admission webhook, a converter and an aggregated server', async () => {
    const remote = await startRemote(trust);
    expect(await admitted(remote)).toBe('works');
    expect(await converted(remote)).toBe('works');
    expect(await aggregated(remote, 'Passed')).toBe('all checks passed');
  });
});

describe.each(REFUSED)('%s', (_name, trust, reason) => {
  test("is refused, in Go's words, by all who call", async () => {
    const remote = await startRemote(trust);
    expect(await admitted(remote)).toBe(
      `Internal error occurred: failed calling webhook "hook.example.com": failed to call webhook: Post "https://localhost:${remote.port}/review?timeout=10s": ${reason}`,
    );
    expect(await converted(remote)).toBe(
      `conversion webhook for g${count}.example.com/v1, Kind=Thing failed: Post "https://localhost:${remote.port}/convert?timeout=30s": ${reason}`,
    );
    const url = `https://localhost:${remote.port}/apis/a${count + 1}.example.com/v1`;
    expect(await aggregated(remote, 'FailedDiscoveryCheck')).toBe(`failing or missing response from ${url}: Get "${url}": ${reason}`);
  });
});

/** PKCS#10. */
function signingRequest(commonName: string, organization: string, { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }): string {
  const subject = sequence(set(sequence(oid('2.5.4.10'), utf8String(organization))), set(sequence(oid('2.5.4.3'), utf8String(commonName))));
  const content = sequence(integer(Buffer.from([0])), subject, publicKey.export({ type: 'spki', format: 'der' }), der(contextTag(0), Buffer.alloc(0)));
  return encodePem('CERTIFICATE REQUEST', sequence(content, sequence(oid('1.2.840.10045.4.3.2')), bitString(sign('sha256', content, privateKey))));
}

interface LogIn {
  status: number;
  username: string | undefined;
}

/** Who the server takes the owner of a certificate for. Rejects where the connection is cut. */
function logIn(cert: string, key: string): Promise<LogIn> {
  // Without this OpenSSL would not send what is signed with SHA-1.
  const agent = new Agent({ ca: front.ca, cert, key, ciphers: 'DEFAULT@SECLEVEL=0' });
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const body = JSON.stringify({ kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' });
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { agent, host: '127.0.0.1', port: front.port, path, method: 'POST', headers: { 'content-type': 'application/json' } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          const { status } = JSON.parse(text) as { status: { userInfo?: { username: string } } };
          resolve({ status: response.statusCode!, username: status.userInfo?.username });
        });
      },
    );
    request.on('error', reject).end(body);
  });
}

describe('a client certificate', () => {
  test('by an authority of version 1, after kubectl certificate approve', async () => {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const request = Buffer.from(signingRequest('jane', 'developers', keys)).toString('base64');
    await api.create(path, { metadata: { name: 'jane' }, spec: { request, signerName: 'example.com/clients', usages: ['client auth'] } });
    await new Clients(front).kubectl('certificate approve jane');
    const approved = await api.get(`${path}/jane`);
    const leaf: CertificateRecipe = {
      by: 'v1',
      subject: [
        ['2.5.4.10', 'developers'],
        ['2.5.4.3', 'jane'],
      ],
      usages: ['client'],
      key: keys.privateKey,
    };
    const issued = makeCertificates({ leaf }, new Date(), roots).get('leaf')!;
    const certificate = Buffer.from(pemOf(issued)).toString('base64');
    await api.update(`${path}/jane/status`, { ...approved, status: { ...approved.status, certificate } });
    const stored = Buffer.from((await api.get(`${path}/jane`)).status!['certificate'] as string, 'base64').toString();
    expect(await logIn(stored, keyPemOf(issued))).toEqual({ status: 201, username: 'jane' });
  });

  test('that is signed with SHA-1 is nobody, whatever its groups', async () => {
    const masters: CertificateRecipe = {
      by: 'rsa',
      subject: [
        ['2.5.4.10', 'system:masters'],
        ['2.5.4.3', 'root'],
      ],
      usages: ['client'],
    };
    const made = makeCertificates({ good: masters, bad: { ...masters, signing: 'sha1' } }, new Date(), roots);
    const [good, bad] = [made.get('good')!, made.get('bad')!];
    expect(await logIn(pemOf(good), keyPemOf(good))).toEqual({ status: 201, username: 'root' });
    expect((await logIn(pemOf(bad), keyPemOf(bad))).status).toBe(401);
  });

  test('with a key of 16,384 bits beside it never gets as far as a request', async () => {
    const made = makeCertificates({ big: { ...ROOT, key: 'rsa16384' }, leaf: { by: 'v1', usages: ['client'] } }, new Date(), roots);
    const leaf = made.get('leaf')!;
    await expect(logIn(pemOf(leaf) + pemOf(made.get('big')!), keyPemOf(leaf))).rejects.toThrow(/socket|ECONNRESET|EPIPE/);
    expect((await logIn(pemOf(leaf), keyPemOf(leaf))).status).toBe(201);
  });
});
