import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Dial } from '../../net/dial.ts';
import { badRequest } from '../../api/errors.ts';
import { isGlobalUnicast } from '../actions/unicast.ts';

/** Nobody is proxied to the server's own machine or link (CVE-2020-8562 and its kin). The address that may be dialled, where the host is a name. */
export async function proxyableAddress(host: string, resolve = addressesOf): Promise<string> {
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  if (addresses.length === 0) throw badRequest('no addresses for hostname');
  if (!addresses.every(isGlobalUnicast)) throw badRequest('address not allowed');
  return addresses[0]!;
}

async function addressesOf(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    throw badRequest(`lookup ${host}: no such host`);
  }
}

/** The address that was looked at is the one that is dialled: a name that is asked for twice may be answered twice. */
export const guardedDial =
  (dial: Dial, resolve = addressesOf): Dial =>
  async (host, port, signal) =>
    dial(await proxyableAddress(host, resolve), port, signal);
