import { hostPort } from '../net/dial.ts';
import { SYSTEM_PRIVILEGED_GROUP, type User } from '../api/user.ts';
import type { RemoteApi } from './remote-api.ts';

/** Who the aggregator is to the servers behind it, when it asks for itself. It may always. */
export const AGGREGATOR_USER: User = { name: 'system:kube-aggregator', groups: [SYSTEM_PRIVILEGED_GROUP] };

const ATTEMPTS = 5;
const TIMEOUT_MS = 5_000;
/** Of what it serves; a connection whose answer has been read can be used again, and a longer one is not worth that. */
const MAX_READ_BYTES = 256 * 1024;

/** Whether a server answers for its group-version: one of several attempts must, since each may meet another endpoint. Throws what the last one met. */
export async function reach(api: RemoteApi): Promise<void> {
  const attempts = Array.from({ length: ATTEMPTS }, () => attempt(api));
  try {
    await Promise.any(attempts);
  } catch (error) {
    api.closeIdle();
    throw (error as AggregateError).errors.at(-1);
  }
}

async function attempt(api: RemoteApi): Promise<void> {
  const address = api.address();
  const path = api.group === '' ? `/api/${api.version}` : `/apis/${api.group}/${api.version}`;
  const url = `https://${hostPort(address.host, address.port)}${path}`;
  try {
    const { status } = await api.fetch(path, { user: AGGREGATOR_USER, timeoutMs: TIMEOUT_MS, limitBytes: MAX_READ_BYTES, wantsStatusOnly: true }, address);
    if (status < 200 || status >= 300) throw new Error(`bad status from ${url}: ${status}`);
  } catch (error) {
    throw new Error(`failing or missing response from ${url}: ${(error as Error).message}`, { cause: error });
  }
}
