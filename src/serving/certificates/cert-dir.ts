import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createSelfSigned } from './create.ts';

export interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

export interface SelfSignedOptions {
  /** The address that clients are told, a host name or an IP. */
  publicAddress: string;
  hosts?: readonly string[];
  ips?: readonly string[];
  /** The name that files have before their `.crt` and `.key`. */
  pairName?: string;
  now?: Date;
}

/**
 * The serving certificate of `--cert-dir`: the pair that is there, or a new self-signed one. Throws when only one of the two files is there,
 * because making a new pair would destroy what the operator has.
 */
export function ensureSelfSigned(folder: string, { publicAddress, hosts = [], ips = [], pairName = 'apiserver', now }: SelfSignedOptions): CertificateFiles & { isNew: boolean } {
  const files = { certFile: join(folder, `${pairName}.crt`), keyFile: join(folder, `${pairName}.key`) };
  const hasCert = isReadable(files.certFile);
  const hasKey = isReadable(files.keyFile);
  if (hasCert && hasKey) return { ...files, isNew: false };
  if (hasCert) throw new Error(`error reading ${files.keyFile}, certificate and key must be supplied as a pair`);
  if (hasKey) throw new Error(`error reading ${files.certFile}, certificate and key must be supplied as a pair`);
  const { certPem, keyPem } = createSelfSigned({ commonName: publicAddress, hosts, ips, ...(now && { now }) });
  mkdirSync(dirname(files.certFile), { recursive: true, mode: 0o755 });
  writeFileSync(files.keyFile, keyPem, { mode: 0o600 });
  writeFileSync(files.certFile, certPem, { mode: 0o644 });
  return { ...files, isNew: true };
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
