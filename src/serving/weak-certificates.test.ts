import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { expect, test } from 'vitest';
import { MetricRegistry } from '../metrics/registry.ts';
import { dialDirectly } from '../net/dial.ts';
import { encodePem } from './certificates/pem.ts';
import { type CertificateRecipe, makeCertificates } from './certificates/test-certificates.ts';
import { TlsDialer } from './tls-dialer.ts';
import { countWeakCertificates } from './weak-certificates.ts';

const ROOT: CertificateRecipe = { ca: true, keyUsage: 0x84, key: 'rsa2048' };
const GOOD: CertificateRecipe = { by: 'root', subject: 'localhost', usages: ['server'], names: ['dns:localhost'] };

/** What is counted and logged when a server with this certificate is dialled. */
async function dialled(leaf: CertificateRecipe, { isUnverified = false } = {}): Promise<{ isOpen: boolean; counted: string[]; logged: string[] }> {
  const made = makeCertificates({ root: ROOT, leaf }, new Date());
  const pemOf = (name: string): string => encodePem('CERTIFICATE', made.get(name)!.der);
  const key = made.get('leaf')!.key!.export({ type: 'pkcs8', format: 'pem' });
  // Without this OpenSSL would not send what is signed with SHA-1.
  const server = createServer({ cert: pemOf('leaf'), key, ciphers: 'DEFAULT@SECLEVEL=0' }, (socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const registry = new MetricRegistry();
  const logged: string[] = [];
  const onWeakCertificate = countWeakCertificates(registry, 'webhooks', (message) => logged.push(message));
  const dialer = new TlsDialer((_host, port, signal) => dialDirectly('127.0.0.1', port, signal), { caPem: pemOf('root'), isUnverified }, onWeakCertificate);
  const socket = await dialer
    .connect('localhost', (server.address() as AddressInfo).port, { protocols: [], signal: new AbortController().signal })
    .catch(() => undefined);
  socket?.destroy();
  server.close();
  const counted = registry
    .print()
    .split('\n')
    .filter((line) => /^apiserver_webhooks_x509_.* [1-9]/.test(line));
  return { isOpen: socket !== undefined, counted, logged };
}

const MISSING_SAN = {
  counted: ['apiserver_webhooks_x509_missing_san_total 1'],
  logged: [
    'missing-san.invalid-cert.kubernetes.io: invalid certificate detected connecting to "localhost": relies on a legacy Common Name field instead of the SAN extension for subject validation',
  ],
};
const INSECURE_SHA1 = {
  counted: ['apiserver_webhooks_x509_insecure_sha1_total 1'],
  logged: ['insecure-sha1.invalid-cert.kubernetes.io: invalid certificate detected connecting to "localhost": uses an insecure SHA-1 signature'],
};
const { names: _names, ...NAMELESS } = GOOD;

test('a certificate as it should be is not counted', async () => {
  expect(await dialled(GOOD)).toEqual({ isOpen: true, counted: [], logged: [] });
});

test('one that has its name in the subject alone is refused and counted', async () => {
  expect(await dialled(NAMELESS)).toEqual({ isOpen: false, ...MISSING_SAN });
});

test('one that is signed with SHA-1 is refused and counted', async () => {
  expect(await dialled({ ...GOOD, signing: 'sha1' })).toEqual({ isOpen: false, ...INSECURE_SHA1 });
});

test('both are counted where nobody verifies them', async () => {
  expect(await dialled(NAMELESS, { isUnverified: true })).toEqual({ isOpen: true, ...MISSING_SAN });
  expect(await dialled({ ...GOOD, signing: 'sha1' }, { isUnverified: true })).toEqual({ isOpen: true, ...INSECURE_SHA1 });
});

test('what is refused for another reason is not counted', async () => {
  expect(await dialled({ ...GOOD, names: ['dns:other'] })).toEqual({ isOpen: false, counted: [], logged: [] });
});
