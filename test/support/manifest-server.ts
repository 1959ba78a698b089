import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';
import { ApiClient } from './api-client.ts';
import { type EtcdCluster, startEtcd } from './etcd.ts';
import { CommandProcess, temporaryFolder } from './server.ts';

/* Servers as the manifests of deploy/ start them: the container's arguments, with folders of the test in place of its volumes. */

interface Workload {
  kind: string;
  spec: { template: { spec: { containers: { args: string[]; volumeMounts: { name: string; mountPath: string }[] }[] } } };
}

const authority = createAuthority({ commonName: 'deploy-ca' });
const host = { hosts: ['localhost'], ips: ['127.0.0.1'] };
const serving = signCertificate(authority, { commonName: 'binnacle', usages: ['server'], ...host });
const admin = signCertificate(authority, { commonName: 'admin', organizations: ['system:masters'], usages: ['client'] });
const etcdServing = signCertificate(authority, { commonName: 'etcd', usages: ['server'], ...host });
const etcdClient = signCertificate(authority, { commonName: 'binnacle', usages: ['client'] });

/** What the Secret holds, in a folder. */
function pkiFolder(): string {
  const folder = temporaryFolder();
  const serviceAccounts = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const files = {
    'tls.crt': serving.certPem,
    'tls.key': serving.keyPem,
    'ca.crt': authority.certPem,
    'service-account.key': serviceAccounts.privateKey,
    'etcd-ca.crt': authority.certPem,
    'etcd-client.crt': etcdClient.certPem,
    'etcd-client.key': etcdClient.keyPem,
    'etcd.crt': etcdServing.certPem,
    'etcd.key': etcdServing.keyPem,
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode: 0o400 });
  return folder;
}

let pki: string | undefined;
const sharedPki = (): string => (pki ??= pkiFolder());

/** One that asks for certificates, as the manifest expects. */
export function startEtcdWithTls(): Promise<EtcdCluster> {
  const file = (name: string): string => join(sharedPki(), name);
  return startEtcd({
    tls: { certFile: file('etcd.crt'), keyFile: file('etcd.key'), caFile: file('ca.crt') },
    clientTls: { ca: authority.certPem, cert: etcdClient.certPem, key: etcdClient.keyPem },
  });
}

/** Ready, as the readiness probe has it; asked by a client with a certificate of system:masters. */
export async function startFromManifest(manifest: string, etcd?: EtcdCluster): Promise<ApiClient> {
  const workload = parseAllDocuments(manifest)
    .map((document) => document.toJS() as Workload)
    .find(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment')!;
  const [container] = workload.spec.template.spec.containers;
  const data = join(temporaryFolder(), 'data');
  mkdirSync(data);
  const folders: Record<string, string> = { data, pki: sharedPki() };
  const args = container!.args.map((argument) => {
    if (argument.startsWith('--secure-port=')) return '--secure-port=0';
    if (argument.startsWith('--etcd-servers=')) return `--etcd-servers=${etcd!.endpoints.join(',')}`;
    if (argument.startsWith('--shutdown-delay-duration=')) return '--shutdown-delay-duration=0s';
    const named = argument.replace('$(POD_IP)', '127.0.0.1');
    return container!.volumeMounts.reduce((text, { name, mountPath }) => text.replace(mountPath, folders[name]!), named);
  });
  // A loopback address cannot be an endpoint of a service.
  const server = new CommandProcess([...args, '--endpoint-reconciler-type=none'], { cwd: data });
  const [, port] = await server.line(/Serving url="https:\/\/127\.0\.0\.1:(\d+)"/);
  const client = new ApiClient({ port: Number(port), ca: authority.certPem, cert: admin.certPem, key: admin.keyPem });
  await client.expect(200, { path: '/readyz' });
  return client;
}
