import { beforeAll, describe, expect, test } from 'vitest';
import { stringifyJson } from '../../src/util/json.ts';
import type { JsonObject } from '../../src/util/json-types.ts';
import type { ApiClient } from '../support/api-client.ts';
import { startServer } from '../support/server.ts';
import { type ExampleKind, NAMESPACE, exampleKinds, freshCopy } from './examples.ts';
import { Random } from './random.ts';
import { vary } from './variation.ts';

/*
 * Whatever the server lets in, it gives back; and what it gave, sent back as it is, changes nothing, in any of the three forms. Since what is written is
 * compared with what is stored byte for byte, a form that lost or changed anything on its way out or in would make a new version.
 */

const SEED = Number(process.env.KINDS_SEED ?? 1);
const FORMS = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
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
      if (await roundTrips(kind, freshCopy(kind, example))) accepted++;
      for (let count = 0; count < VARIATIONS; count++) {
        const object = freshCopy(kind, example);
        for (let changes = random.below(3); changes >= 0; changes--) vary(kind.schema, object, random);
        await roundTrips(kind, object);
      }
    }
    expect(accepted).toBeGreaterThan(0);
  });
});

/** False where the object was not let in. */
async function roundTrips(kind: ExampleKind, object: JsonObject): Promise<boolean> {
  const created = await client.send({ method: 'POST', path: kind.path, body: stringifyJson(object) });
  if (created.status !== 201) {
    expect(created.status, created.text).toBeLessThan(500);
    return false;
  }
  const path = `${kind.path}/${encodeURIComponent(created.json().metadata.name)}`;
  const { resourceVersion } = (await client.expect(200, { path })).json().metadata;
  for (const form of FORMS) {
    const { body } = await client.expect(200, { path, headers: { accept: form } });
    const answer = await client.send({ method: 'PUT', path, body, headers: { 'content-type': form, accept: form } });
    expect({ status: answer.status, text: answer.status === 200 ? '' : `${answer.text} to ${body.toString()}` }).toEqual({ status: 200, text: '' });
    expect(answer.body.equals(body), `${form} of ${path}:\n${body.toString()}\n${answer.text}`).toBe(true);
    const after = await client.expect(200, { path });
    expect(after.json().metadata.resourceVersion, `${form} of ${path}`).toBe(resourceVersion);
  }
  await client.send({ method: 'DELETE', path, body: { gracePeriodSeconds: 0, propagationPolicy: 'Background' } });
  return true;
}
