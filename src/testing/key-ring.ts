import { join } from 'node:path';
import type { Cluster, ClusterKeys } from '../compose/cluster.ts';
import type { SharedKeys } from '../compose/embedded.ts';
import { readIfThere, writePrivately } from '../compose/files.ts';

const SIGNING_KEY = 'service-account.key';

/** What the servers of one process have made so far: the next one need not make it again. A key that signs tokens takes up to a second. */
export class KeyRing implements SharedKeys {
  #cluster: ClusterKeys | undefined;
  #signingKey: string | undefined;

  get cluster(): ClusterKeys | undefined {
    return this.#cluster;
  }

  enter(folder: string): void {
    if (this.#signingKey !== undefined) writePrivately(join(folder, SIGNING_KEY), this.#signingKey);
  }

  leave(folder: string, { keys }: Cluster): void {
    this.#cluster = keys;
    this.#signingKey ??= readIfThere(join(folder, SIGNING_KEY));
  }
}
