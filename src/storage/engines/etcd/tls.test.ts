import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type EtcdTlsFiles, hasEtcd, startEtcd } from '../../../../test/support/etcd.ts';
import { createAuthority, signCertificate } from '../../../serving/certificates/create.ts';
import { openEtcdEngine } from './engine.ts';

const folder = mkdtempSync(join(tmpdir(), 'binnacle-etcd-tls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const keptIn = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

describe.runIf(hasEtcd())('etcd behind TLS', () => {
  test('takes a client with a certificate, and no other; the server must show one that is trusted', async () => {
    const authority = createAuthority({ commonName: 'etcd-ca' });
    const server = signCertificate(authority, { commonName: 'etcd', ips: ['127.0.0.1'], usages: ['server', 'client'] });
    const client = signCertificate(authority, { commonName: 'binnacle', usages: ['client'] });
    const files: EtcdTlsFiles = {
      certFile: keptIn('server.crt', server.certPem),
      keyFile: keptIn('server.key', server.keyPem),
      caFile: keptIn('ca.crt', authority.certPem),
    };
    const tls = { ca: authority.certPem, cert: client.certPem, key: client.keyPem };
    const { endpoints } = await startEtcd({ tls: files, clientTls: tls });
    const engine = await openEtcdEngine({ endpoints, tls });
    const revision = await engine.commit({ type: 'put', key: '/a', value: Buffer.from('x'), expected: 0 });
    expect((await engine.get('/a'))?.revision).toBe(revision);
    await engine.close();
    await expect(openEtcdEngine({ endpoints, tls: { ca: authority.certPem } })).rejects.toThrow('etcd cannot be reached');
    await expect(openEtcdEngine({ endpoints, tls: { cert: client.certPem, key: client.keyPem } })).rejects.toThrow(
      'x509: certificate signed by unknown authority',
    );
  });
});
