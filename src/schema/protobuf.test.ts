import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CURRENT_FACTS } from '../../scripts/facts/current.ts';
import { schemaOf, schemaOfKind } from '../apis/facts/schemas.ts';
import { isApiError } from '../api/errors.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import {
  decodeEnvelope,
  decodeProtobuf,
  encodeEnvelope,
  encodeProtobuf,
  encodeProtobufList,
  encodeProtobufObject,
  encodeWatchFrame,
  isProtobufEnvelope,
  protobufInSteps,
} from './protobuf.ts';
import { runAtOnce } from '../util/time-slice.ts';
import type { ObjectSchema } from './schema.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const podSchema = schemaOfKind('', 'v1', 'Pod');

const roundTrip = (schema: ObjectSchema, object: JsonObject): JsonObject => decodeProtobuf(schema, encodeProtobuf(schema, object));
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** The bytes of upstream's own golden files (staging/src/k8s.io/api/testdata). A bare WatchEvent has no kind in its envelope. */
describe('golden objects', () => {
  const objects = JSON.parse(readFileSync(`${CURRENT_FACTS}/wire.json`, 'utf8')) as Record<
    string,
    { json: { apiVersion?: string; kind?: string }; protobuf: string }
  >;
  test.each(Object.entries(objects))('%s', (_name, { json, protobuf }) => {
    const bytes = Buffer.from(protobuf, 'base64');
    const { apiVersion, kind, raw } = decodeEnvelope(bytes);
    const [group, version] = apiVersion.includes('/') ? (apiVersion.split('/') as [string, string]) : ['', apiVersion];
    const schema = kind === '' ? schemaOf(`${META}.WatchEvent`) : schemaOfKind(group, version, kind);
    expect(JSON.stringify({ ...(kind !== '' && { kind, apiVersion }), ...decodeProtobuf(schema, raw) })).toBe(JSON.stringify(json));
    expect(encodeProtobufObject(schema, { apiVersion: '', kind: '', ...json }).equals(bytes)).toBe(true);
    expect(JSON.stringify(runAtOnce(protobufInSteps(schema, raw)))).toBe(JSON.stringify(decodeProtobuf(schema, raw)));
  });
});

describe('what Go writes', () => {
  test('fields that are no pointers always, pointers only when set', () => {
    const conditions = schemaOf('io.k8s.api.apps.v1.DeploymentSpec');
    expect(encodeProtobuf(schemaOf(`${META}.Preconditions`), {})).toEqual(Buffer.alloc(0));
    expect(encodeProtobuf(schemaOf(`${META}.Preconditions`), { uid: '' })).toEqual(hex('0a 00'));
    expect(encodeProtobuf(schemaOf(`${META}.GroupResource`), {})).toEqual(hex('0a 00 12 00'));
    expect(roundTrip(conditions, { replicas: 0 })).toMatchObject({
      replicas: 0,
      selector: null,
      template: { metadata: {}, spec: { containers: null } },
      strategy: {},
    });
  });

  test('maps in the order of their keys, in whichever order they came', () => {
    const schema = schemaOf(`${META}.LabelSelector`);
    const entries = ['b', 'a', ''].map((key) => Buffer.from([0x0a, 2 + key.length, 0x0a, key.length, ...Buffer.from(key)]));
    expect(JSON.stringify(decodeProtobuf(schema, Buffer.concat(entries)))).toBe('{"matchLabels":{"":"","a":"","b":""}}');
  });

  test('negative numbers in ten bytes, and integers beyond 2^53 unchanged', () => {
    const schema = schemaOf(`${META}.DeleteOptions`);
    expect(encodeProtobuf(schema, { gracePeriodSeconds: -1 })).toEqual(hex('08 ff ff ff ff ff ff ff ff ff 01'));
    for (const gracePeriodSeconds of [-1, 0, 127, 128, 2 ** 31, 2 ** 49, 2 ** 53 - 1, -(2 ** 53) + 1, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      expect(roundTrip(schema, { gracePeriodSeconds })).toEqual({ gracePeriodSeconds });
    }
  });

  test('maps by key, and keys that are names of the prototype', () => {
    const schema = schemaOfKind('', 'v1', 'ConfigMap');
    const data = JSON.parse('{"b":"2","a":"1","__proto__":"3","constructor":"4"}') as JsonObject;
    const decoded = roundTrip(schema, { data });
    expect(JSON.stringify(decoded)).toBe('{"metadata":{},"data":{"__proto__":"3","a":"1","b":"2","constructor":"4"}}');
  });

  test('times of the past, of zero and with fractions', () => {
    const schema = schemaOf('io.k8s.api.core.v1.Event');
    const times = { firstTimestamp: '1969-12-31T23:59:59Z', lastTimestamp: null, eventTime: '2024-02-29T12:00:00.000007Z' };
    expect(roundTrip(schema, times)).toMatchObject(times);
    expect(roundTrip(schema, { firstTimestamp: '0001-01-01T00:00:00Z' })).toMatchObject({ firstTimestamp: null, eventTime: null });
    expect(roundTrip(schema, { firstTimestamp: '2024-02-29T13:00:00+01:00' })).toMatchObject({ firstTimestamp: '2024-02-29T12:00:00Z' });
  });

  test("a CRD's schema, which holds itself", () => {
    const schema = schemaOf('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
    const props: JsonObject = {
      $ref: '#/x',
      type: 'object',
      default: { a: [1, null] },
      maximum: 1.5,
      enum: ['a', 1, null],
      items: { type: 'string' },
      properties: { a: { items: [{ type: 'string' }, {}], additionalProperties: false }, b: { additionalProperties: { type: 'integer' } } },
      dependencies: { x: ['y', 'z'], w: { type: 'string' } },
      'x-kubernetes-preserve-unknown-fields': true,
    };
    expect(roundTrip(schema, props)).toEqual({ ...props, dependencies: { w: { type: 'string' }, x: ['y', 'z'] } });
  });

  test('lists of encoded items, and frames of a watch', () => {
    const pod = { metadata: { name: 'a' }, spec: { containers: null }, status: {} };
    const raw = encodeProtobuf(podSchema, pod);
    const metadata = encodeProtobuf(schemaOf(`${META}.ListMeta`), { resourceVersion: '7' });
    const pieces = [...encodeProtobufList({ apiVersion: 'v1', kind: 'PodList' }, metadata, [raw, raw], (item) => item)];
    // Its length comes first, so that there is a step for each item before there is a piece.
    expect(pieces.slice(0, 3)).toEqual([undefined, undefined, expect.any(Buffer)]);
    const list = decodeEnvelope(Buffer.concat(pieces.filter((piece) => piece !== undefined)));
    expect(list).toMatchObject({ apiVersion: 'v1', kind: 'PodList' });
    expect(decodeProtobuf(schemaOfKind('', 'v1', 'PodList'), list.raw)).toEqual({ metadata: { resourceVersion: '7' }, items: [pod, pod] });
    const frame = encodeWatchFrame('ADDED', Buffer.from('{"a":1}'));
    expect(frame.readUInt32BE(0)).toBe(frame.length - 4);
    expect(decodeProtobuf(schemaOf(`${META}.WatchEvent`), frame.subarray(4))).toEqual({ type: 'ADDED', object: { a: 1 } });
  });
});

describe('what is read', () => {
  test('packed numbers, unknown fields and groups', () => {
    const schema = schemaOf('io.k8s.api.core.v1.PodSecurityContext');
    expect(decodeProtobuf(schema, hex('22 02 01 02  20 03'))).toEqual({ supplementalGroups: [1, 2, 3] });
    expect(decodeProtobuf(schema, hex('a0 3f 01  a3 3f 08 01 a4 3f  20 03'))).toEqual({ supplementalGroups: [3] });
  });

  test.each([
    ['a tag without its value', podSchema, '0a', 'unexpected EOF'],
    ['a length beyond the end', podSchema, '0a 7f 00', 'unexpected EOF'],
    ['a length that is negative', podSchema, '0a ff ff ff ff ff ff ff ff ff 01', 'proto: negative length found during unmarshaling'],
    ['a number without end', podSchema, 'ff ff ff ff ff ff ff ff ff ff ff', 'proto: integer overflow'],
    ['the wrong wire type', podSchema, '08 01', 'proto: wrong wireType = 0 for field Metadata'],
    ['field zero', podSchema, '02 00', 'proto: Pod: illegal tag 0 (wire type 2)'],
    ['the end of no group', podSchema, '7c', 'proto: unexpected end of group'],
    ['JSON that is none', schemaOfKind('apps', 'v1', 'ControllerRevision'), '12 03 0a 01 7b', 'unexpected end of JSON input'],
  ])('%s is refused', (_name, schema, bytes, message) => {
    const attempt = (): unknown => decodeProtobuf(schema, hex(bytes));
    expect(attempt).toThrow(message);
    expect(attempt).toThrow(expect.objectContaining({ code: 400 }));
  });

  test('nesting without end is refused', () => {
    const schema = schemaOf('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
    let bytes = Buffer.alloc(0);
    const notTag = hex('e2 01');
    expect(schema.fields.get('not')!.protoNumber).toBe(28);
    for (let depth = 0; depth < 1000; depth++) {
      const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
      bytes = Buffer.concat([notTag, Buffer.from(length), bytes]);
    }
    expect(() => decodeProtobuf(schema, bytes)).toThrow('nested too deeply');
    expect(() => decodeProtobuf(schemaOf(`${META}.ListMeta`), Buffer.alloc(100_000, 0x7b))).toThrow('nested too deeply');
  });

  test('an envelope with everything in it, and none', () => {
    const bytes = encodeEnvelope('apps/v1', 'Deployment', Buffer.from('x'));
    expect(isProtobufEnvelope(bytes)).toBe(true);
    expect(decodeEnvelope(bytes)).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', raw: Buffer.from('x'), contentEncoding: '', contentType: '' });
    expect(() => decodeEnvelope(Buffer.from('{}'))).toThrow('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
    expect(() => decodeEnvelope(Buffer.from('k8s\0'))).toThrow('empty body');
  });

  const survives = (bytes: Buffer): boolean => {
    try {
      const object = decodeProtobuf(podSchema, bytes);
      return JSON.stringify(roundTrip(podSchema, object)) === JSON.stringify(object);
    } catch (error) {
      return isApiError(error, 'BadRequest');
    }
  };

  test('made-up bytes end in an object or in badRequest', () => {
    const seedObject = {
      metadata: { name: 'a', labels: { x: 'y' } },
      spec: { containers: [{ name: 'c', resources: { limits: { cpu: '1' } }, ports: [{ containerPort: 80 }] }], volumes: [{ name: 'v', emptyDir: {} }] },
    };
    const seed = encodeProtobuf(podSchema, seedObject);
    let state = 12345;
    const random = (below: number): number => ((state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8) % below;
    for (let round = 0; round < 5000; round++) {
      const bytes = Buffer.from(seed.subarray(0, round % 2 === 0 ? seed.length : random(seed.length)));
      for (let edits = random(4); edits >= 0 && bytes.length > 0; edits--) bytes[random(bytes.length)] = random(256);
      expect(survives(bytes)).toBe(true);
    }
  });
});

describe('a long message', () => {
  const stepsOf = (schema: ObjectSchema, bytes: Buffer): { steps: number; object: JsonObject } => {
    const work = protobufInSteps(schema, bytes);
    for (let steps = 1; ; steps++) {
      const { done, value } = work.next();
      if (done) return { steps, object: value };
    }
  };
  const env = Array.from({ length: 2_000 }, (_, index) => ({ name: `E${index}`, value: 'v' }));
  const labels = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, 'v'.repeat(50)]));

  test.each([
    ['lists in lists', podSchema, { metadata: { name: 'p', labels }, spec: { containers: [{ name: 'c', env }, { name: 'd' }] } }],
    ['fields that stand in the object itself', podSchema, { metadata: {}, spec: { containers: [], ephemeralContainers: [{ name: 'e', env }] } }],
    [
      'schemas that are alternatives to lists',
      schemaOf('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'),
      { items: { properties: { a: { items: { description: 'd'.repeat(9_000), type: 'object' } } } }, type: 'array' },
    ],
  ] as [string, ObjectSchema, JsonObject][])('is read in steps, with the same result: %s', (_name, schema, object) => {
    const bytes = encodeProtobuf(schema, object);
    const { steps, object: read } = stepsOf(schema, bytes);
    expect(JSON.stringify(read)).toBe(JSON.stringify(decodeProtobuf(schema, bytes)));
    expect(steps).toBeGreaterThan(2);
  });

  test('has so many values, those in wrapped lists too', () => {
    const schema = schemaOf('io.k8s.api.certificates.v1.CertificateSigningRequestSpec');
    const bytes = encodeProtobuf(schema, { extra: { a: Array.from({ length: 100_000 }, () => '') } });
    expect(() => decodeProtobuf(schema, bytes)).toThrow('limit is 100000 values');
    expect(() => stepsOf(schema, bytes)).toThrow('limit is 100000 values');
  });
});
