import { describe } from 'vitest';
import { type EtcdCluster, hasEtcd, startEtcd } from '../../../../test/support/etcd.ts';
import { engineContract } from '../contract.ts';
import { EtcdClient } from './client.ts';
import { openEtcdEngine } from './engine.ts';

const DELETE_RANGE = '/etcdserverpb.KV/DeleteRange';
/** A DeleteRangeRequest from the first key to the last. */
const ALL_KEYS = Buffer.from([0x0a, 1, 0, 0x12, 1, 0]);

describe.runIf(hasEtcd())('etcd', () => {
  let cluster: EtcdCluster | undefined;

  engineContract(
    'etcd engine',
    async () => {
      cluster ??= await startEtcd();
      const client = new EtcdClient(cluster);
      await client.write(DELETE_RANGE, ALL_KEYS);
      client.close();
      return openEtcdEngine({ endpoints: cluster.endpoints });
    },
    { isClocked: false },
  );
});
