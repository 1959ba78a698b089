import { writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';
import { temporaryFolder } from './server.ts';

const authority = createAuthority({ commonName: 'audit-ca' });

/** A server that takes audit events over TLS; `take` says with which code, and may be late. For `--audit-webhook-config-file`. */
export async function startAuditReceiver(take: (body: Buffer, headers: IncomingHttpHeaders) => number | Promise<number>) {
  const { certPem, keyPem } = signCertificate(authority, { commonName: 'localhost', usages: ['server'], hosts: ['localhost'], ips: ['127.0.0.1'] });
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => response.writeHead(await take(Buffer.concat(chunks), request.headers)).end());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    kubeconfig: writeKubeconfig((server.address() as AddressInfo).port),
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

function writeKubeconfig(port: number): string {
  const path = join(temporaryFolder(), 'webhook.kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'a', user: 'u' } }],
    clusters: [
      { name: 'a', cluster: { server: `https://127.0.0.1:${port}/events`, 'certificate-authority-data': Buffer.from(authority.certPem).toString('base64') } },
    ],
    users: [{ name: 'u', user: { token: 'webhook-token' } }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}
