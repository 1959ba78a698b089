import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerOptions, type ServerProcess, startServer, temporaryFolder } from './server.ts';

/** On etcd the key of service accounts must be given: several servers must have the same. */
let keyFile: string | undefined;

function sharedKeyFile(): string {
  if (keyFile !== undefined) return keyFile;
  keyFile = join(temporaryFolder(), 'service-account.key');
  writeFileSync(
    keyFile,
    generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
      publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
    }).privateKey,
  );
  return keyFile;
}

/** What a server on these members of etcd is started with. */
export function etcdFlags(endpoints: readonly string[], dataDir: string): string[] {
  return [
    '--storage-backend=etcd3',
    `--etcd-servers=${endpoints.join(',')}`,
    `--cert-dir=${join(dataDir, 'certificates')}`,
    `--service-account-signing-key-file=${sharedKeyFile()}`,
    `--service-account-key-file=${sharedKeyFile()}`,
  ];
}

export function startServerOnEtcd(
  endpoints: readonly string[],
  { dataDir = temporaryFolder(), flags = [], ...options }: ServerOptions = {},
): Promise<ServerProcess> {
  return startServer({ ...options, dataDir, flags: [...etcdFlags(endpoints, dataDir), ...flags] });
}
