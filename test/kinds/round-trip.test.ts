import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { startServer } from '../support/server.ts';
import { NAMESPACE, exampleKinds, freshCopy } from './examples.ts';
import { Random } from '../../src/util/test-random.ts';
import { roundTrips } from './round-trip.ts';
import { vary } from './variation.ts';

/* Whatever the server lets in, it gives back; and what it gave, sent back as it is, changes nothing. */

const SEED = Number(process.env.KINDS_SEED ?? 1);
/** Of each example; about one in three is let in. */
const VARIATIONS = 12;

let client: ApiClient;

beforeAll(async () => {
  const server = await startServer();
  client = server.client();
  await client.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  await client.create(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } });
});

describe.each(exampleKinds())('$name', (kind) => {
  test('has an example', () => expect(kind.examples).not.toEqual([]));

  test('round-trips', async () => {
    const random = new Random(SEED);
    let accepted = 0;
    for (const example of kind.examples) {
      if (await roundTrips(client, kind.path, freshCopy(kind, example))) accepted++;
      for (let count = 0; count < VARIATIONS; count++) {
        const object = freshCopy(kind, example);
        for (let changes = random.below(3); changes >= 0; changes--) vary(kind.schema, object, random);
        await roundTrips(client, kind.path, object);
      }
    }
    expect(accepted).toBeGreaterThan(0);
  });
});
