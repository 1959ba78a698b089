import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';
import { ApiClient } from './api-client.ts';
import { startServerOnEtcd } from './etcd-server.ts';
import { type ServerProcess, temporaryFolder } from './server.ts';

/* Servers on one etcd that know each other: each has a host name of its own, since that is what a server is known by. */

/** Of the servers' certificates, as each other's and as clients' authority. */
const servingAuthority = createAuthority({ commonName: 'serving-ca' });
/** Of the certificates by which servers know each other. */
const proxyAuthority = createAuthority({ commonName: 'front-proxy-ca' });
const strangers = createAuthority({ commonName: 'another-ca' });

export interface PeerServer {
  process: ServerProcess;
  client: ApiClient;
}

export interface PeerServerOptions {
  hostName: string;
  flags?: readonly string[];
  port?: number;
  /** Another authority than the one that has signed the other servers' certificates. */
  trustsStrangers?: boolean;
  /** Who it says it is to the others: all but `front-proxy-client` is refused by them. */
  proxyName?: string;
}

export async function startPeerServer(
  endpoints: readonly string[],
  { hostName, flags = [], port = 0, trustsStrangers = false, proxyName = 'front-proxy-client' }: PeerServerOptions,
): Promise<PeerServer> {
  const folder = temporaryFolder();
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const hosts = ['kubernetes.default.svc', 'localhost'];
  const serving = signCertificate(servingAuthority, { commonName: hostName, usages: ['server'], hosts, ips: ['127.0.0.1'] });
  const proxy = signCertificate(proxyAuthority, { commonName: proxyName, usages: ['client'] });
  const preload = write('host-name.cjs', `require('node:os').hostname = () => '${hostName}';\nrequire('node:module').syncBuiltinESMExports();\n`);
  const process = await startServerOnEtcd(endpoints, {
    port,
    environment: { NODE_OPTIONS: `--require=${preload}` },
    flags: [
      `--tls-cert-file=${write('tls.crt', serving.certPem)}`,
      `--tls-private-key-file=${write('tls.key', serving.keyPem)}`,
      `--proxy-client-cert-file=${write('proxy.crt', proxy.certPem)}`,
      `--proxy-client-key-file=${write('proxy.key', proxy.keyPem)}`,
      `--requestheader-client-ca-file=${write('proxy-ca.crt', proxyAuthority.certPem)}`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-uid-headers=X-Remote-Uid',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--peer-ca-file=${write('peer-ca.crt', (trustsStrangers ? strangers : servingAuthority).certPem)}`,
      ...flags,
    ],
  });
  return { process, client: peerClient(process.port) };
}

export const peerClient = (port: number, user = 'admin'): ApiClient => new ApiClient({ port, ca: servingAuthority.certPem, token: `${user}-token` });
