import { expect } from 'vitest';
import { stringifyJson } from '../../src/util/json.ts';
import type { JsonObject } from '../../src/util/json-types.ts';
import type { ApiClient } from '../support/api-client.ts';

const FORMS = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/**
 * Creates the object, reads it in each form, and sends it back as it came. Since what is written is compared with what is stored byte for byte, a form
 * that lost or changed anything on its way out or in would make a new version. False where the object was not let in.
 */
export async function roundTrips(client: ApiClient, collection: string, object: JsonObject): Promise<boolean> {
  const created = await client.send({ method: 'POST', path: collection, body: stringifyJson(object) });
  if (created.status !== 201) {
    expect(created.status, created.text).toBeLessThan(500);
    return false;
  }
  const path = `${collection}/${encodeURIComponent(created.json().metadata.name)}`;
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
