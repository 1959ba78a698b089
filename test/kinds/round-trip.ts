import { expect } from 'vitest';
import { stringifyJson } from '../../src/encoding/json.ts';
import type { JsonObject } from '../../src/encoding/json-types.ts';
import type { ApiClient } from '../support/api-client.ts';

const FORMS = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/**
 * Creates the object, reads it in each form, and sends it back as it came. Since what is written is compared with what is stored byte for byte, a form
 * that lost or changed anything on its way out or in would make a new version. False where the object was not let in.
 */
export async function roundTrips(client: ApiClient, collection: string, object: JsonObject): Promise<boolean> {
  const created = await client.send({ method: 'POST', path: collection, body: stringifyJson(object) });
  if (created.status >= 500) throw new Error(`${collection}: ${created.text}`);
  if (created.status !== 201) return false;
  const path = `${collection}/${encodeURIComponent(created.json().metadata.name)}`;
  // Jobs and claims are stored without defaults that are filled in when they are read; the first update stores them, as the reference's does.
  const read = await client.expect(200, { path });
  const settled = await client.expect(200, { method: 'PUT', path, body: read.body });
  const { resourceVersion } = settled.json().metadata;
  expect(settled.text.replace(`"${resourceVersion}"`, `"${read.json().metadata.resourceVersion}"`)).toBe(read.text);
  for (const form of FORMS) {
    const { body } = await client.expect(200, { path, headers: { accept: form } });
    const answer = await client.expect(200, { method: 'PUT', path, body, headers: { 'content-type': form, accept: form } });
    const after = await client.expect(200, { path });
    expect({ path, form, text: answer.body.toString('latin1') }).toEqual({ path, form, text: body.toString('latin1') });
    expect({ path, form, version: after.json().metadata.resourceVersion }).toEqual({ path, form, version: resourceVersion });
  }
  await client.send({ method: 'DELETE', path, body: { gracePeriodSeconds: 0, propagationPolicy: 'Background' } });
  return true;
}
