import { hostname } from 'node:os';
import { createSelfSigned } from '../serving/certificates/create.ts';
import { isUnspecified } from '../net/cidr.ts';
import { CommandError } from '../options/command-error.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { readIfThere, writePrivately } from './files.ts';

/** Names by which pods know the API server. */
const SERVICE_NAMES = ['kubernetes.default.svc', 'kubernetes.default', 'kubernetes'];

/** Makes the self-signed certificate of a server that was given none. What is there is kept. (The key of service account tokens: `signing-keys.ts`.) */
export function makeMissingFiles(options: CompletedOptions): void {
  if (options.isServingPairGenerated) makeServingPair(options);
}

function makeServingPair(options: CompletedOptions): void {
  const { tlsCertFile, tlsPrivateKeyFile, advertiseAddress } = options;
  const certificate = readIfThere(tlsCertFile);
  const key = readIfThere(tlsPrivateKeyFile);
  if (certificate !== undefined && key !== undefined) return;
  if (certificate !== undefined || key !== undefined) {
    throw new CommandError(`${tlsCertFile} and ${tlsPrivateKeyFile} must be there as a pair: remove the one, or put the other beside it`);
  }
  const { hosts, ips } = servingNames(options);
  const pair = createSelfSigned({ commonName: advertiseAddress, hosts, ips });
  writePrivately(tlsPrivateKeyFile, pair.keyPem);
  writePrivately(tlsCertFile, pair.certPem);
}

/** The names and addresses at which clients may reach the server. */
export function servingNames(options: CompletedOptions): { hosts: string[]; ips: string[] } {
  const { bindAddress, advertiseAddress, apiServerServiceIp } = options;
  const ips = [advertiseAddress, apiServerServiceIp, '127.0.0.1', '::1', ...(isUnspecified(bindAddress) ? [] : [bindAddress])];
  return { hosts: [...SERVICE_NAMES, 'localhost', hostname()], ips: [...new Set(ips)] };
}
