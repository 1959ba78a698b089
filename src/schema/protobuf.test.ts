import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { schemaOf, schemaOfKind } from '../apis/facts/schemas.ts';
import { isApiError } from '../util/errors.ts';
import type { JsonObject } from '../util/json-types.ts';
import { decodeEnvelope, decodeProtobuf, encodeEnvelope, encodeProtobuf, encodeProtobufList, encodeProtobufObject, encodeWatchFrame } from './protobuf.ts';
import type { ObjectSchema } from './schema.ts';

const WIRE_FOLDER = join(import.meta.dirname, '../../../shared/facts/wire');

function schemaFor({ apiVersion, kind }: { apiVersion: string; kind: string }): ObjectSchema {
  const [group, version] = apiVersion.includes('/') ? (apiVersion.split('/') as [string, string]) : ['', apiVersion];
  return schemaOfKind(group, version, kind);
}

/** The bytes of upstream's own golden files (staging/src/k8s.io/api/testdata). */
describe.skipIf(!existsSync(WIRE_FOLDER))('golden objects', () => {
  const names = existsSync(WIRE_FOLDER) ? readdirSync(WIRE_FOLDER).filter((file) => file.endsWith('.pb')).map((file) => file.slice(0, -'.pb'.length)) : [];
  test.each(names)('%s', (name) => {
    const bytes = readFileSync(join(WIRE_FOLDER, `${name}.pb`));
    const json = JSON.parse(readFileSync(join(WIRE_FOLDER, `${name}.json`), 'utf8')) as { apiVersion: string; kind: string };
    const { apiVersion, kind, raw } = decodeEnvelope(bytes);
    const decoded = { kind, apiVersion, ...decodeProtobuf(schemaFor({ apiVersion, kind }), raw) };
    expect(JSON.stringify(decoded)).toBe(JSON.stringify(json));
    expect(encodeProtobufObject(schemaFor(json), json).equals(bytes)).toBe(true);
  });
});
