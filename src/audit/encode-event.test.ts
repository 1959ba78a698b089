import { describe, expect, it, test } from 'vitest';
import type { Exchange } from '../serving/exchange.ts';
import { type LogLine, encodeEvent, encodeEventList } from './encode-event.ts';
import type { AuditEvent } from './event.ts';
import { legacyLine } from './legacy-line.ts';
import { MicroClock } from './micro-clock.ts';
import { patchAsJson, withoutManagedFields, withoutManagedFieldsOf } from './objects.ts';
import { sourceIps } from './source-ips.ts';
import { testEvent } from './testing.ts';

const textOf = (line: LogLine): string => (typeof line === 'string' ? line : Buffer.concat(line).toString());

const FULL = testEvent({
  level: 'RequestResponse',
  user: { name: 'alice', uid: 'u', groups: ['a', 'b'], extra: { z: ['1'], a: ['<2>', '3'] } },
  impersonatedUser: { name: 'bob', groups: [] },
  impersonationConstraint: 'impersonate:user-info',
  userAgent: 'a "b" <c>',
  objectRef: { resource: 'pods', namespace: 'n', name: 'p', uid: 'x', apiGroup: '', apiVersion: 'v1', resourceVersion: '7', subresource: '' },
  responseStatus: { status: 'Failure', message: 'no', reason: 'NotFound', details: { name: 'p', kind: 'pods' }, code: 404 },
  requestObject: '{"a":1}',
  responseObject: [Buffer.from('{"b":"ä"}')],
  annotations: new Map([
    ['z', '1'],
    ['a', '2'],
  ]),
});

describe('an event as JSON', () => {
  it('has upstream’s fields in upstream’s order', () => {
    expect(encodeEvent(FULL)).toBe(
      `${[
        '{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"id-1","stage":"ResponseComplete","requestURI":"/api/v1/pods","verb":"list"',
        '"user":{"username":"alice","uid":"u","groups":["a","b"],"extra":{"a":["\\u003c2\\u003e","3"],"z":["1"]}}',
        '"impersonatedUser":{"username":"bob"}',
        '"authenticationMetadata":{"impersonationConstraint":"impersonate:user-info"}',
        '"sourceIPs":["127.0.0.1"],"userAgent":"a \\"b\\" \\u003cc\\u003e"',
        '"objectRef":{"resource":"pods","namespace":"n","name":"p","uid":"x","apiVersion":"v1","resourceVersion":"7"}',
        '"responseStatus":{"metadata":{},"status":"Failure","message":"no","reason":"NotFound","details":{"name":"p","kind":"pods"},"code":404}',
        '"requestObject":{"a":1},"responseObject":{"b":"ä"}',
        '"requestReceivedTimestamp":"2026-01-02T03:04:05.000600Z","stageTimestamp":"2026-01-02T03:04:05.000700Z"',
        '"annotations":{"a":"2","z":"1"}}',
      ].join(',')}\n`,
    );
  });
  it('leaves out what is empty', () => {
    const event = testEvent({ user: undefined, sourceIps: [], userAgent: '' });
    expect(Object.keys(JSON.parse(textOf(encodeEvent(event))) as object)).toEqual([
      'kind',
      'apiVersion',
      'level',
      'auditID',
      'stage',
      'requestURI',
      'verb',
      'user',
      'requestReceivedTimestamp',
      'stageTimestamp',
    ]);
  });
  it('has the bytes of a long answer as they are', () => {
    const bytes = Buffer.from(JSON.stringify({ b: 'ä'.repeat(64 * 1024) }));
    // In the middle of a character.
    const responseObject = [bytes.subarray(0, 99), bytes.subarray(99)];
    const text = textOf(encodeEvent({ ...FULL, responseObject, encoded: undefined }));
    expect(text).toBe(textOf(encodeEvent({ ...FULL, encoded: undefined })).replace('{"b":"ä"}', bytes.toString()));
  });
  it('is an item of a list without its type', async () => {
    const long = testEvent({ responseObject: [Buffer.from('{"c":"'), Buffer.from('d'.repeat(64 * 1024)), Buffer.from('"}')] });
    const list = JSON.parse(textOf(await encodeEventList([FULL, long, testEvent()]))) as { kind: string; items: Record<string, unknown>[] };
    expect(list).toMatchObject({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {} });
    const fieldsOf = (event: AuditEvent): Record<string, unknown> => {
      const { kind: _kind, apiVersion: _apiVersion, ...fields } = JSON.parse(textOf(encodeEvent(event))) as Record<string, unknown>;
      return fields;
    };
    expect(list.items).toEqual([FULL, long, testEvent()].map(fieldsOf));
  });
  test.each(['\u0000', '"', '\\', '\u2028', '</script>', 'naïve', '\ud800'])('survives %j', (text) => {
    expect((JSON.parse(textOf(encodeEvent(testEvent({ requestUri: text, annotations: new Map([[text, text]]) })))) as { requestURI: string }).requestURI).toBe(
      text,
    );
  });
});

test('an event as a line', () => {
  expect(legacyLine(FULL)).toBe(
    '2026-01-02T03:04:05.0006Z AUDIT: id="id-1" stage="ResponseComplete" ip="127.0.0.1" method="list" user="alice" groups="\\"a\\",\\"b\\"" as="bob" asgroups="" ' +
      'user-agent="a \\"b\\" <c>" namespace="n" uri="/api/v1/pods" response="404"\n',
  );
  expect(legacyLine(testEvent({ user: undefined, sourceIps: [], receivedAt: '2026-01-02T03:04:05.000000Z' }))).toBe(
    '2026-01-02T03:04:05Z AUDIT: id="id-1" stage="ResponseComplete" ip="<unknown>" method="list" user="<none>" groups="<none>" as="<self>" asgroups="<lookup>" ' +
      'user-agent="test" namespace="<none>" uri="/api/v1/pods" response="<deferred>"\n',
  );
});

const from = (remoteAddress: string, headers: Record<string, string> = {}): string[] =>
  sourceIps({ remoteAddress, headers, headerValues: (name: string) => (headers[name] === undefined ? [] : [headers[name]]) } as unknown as Exchange);

test.each<[string, Record<string, string>, string[]]>([
  ['10.0.0.1', {}, ['10.0.0.1']],
  ['::ffff:10.0.0.1', {}, ['10.0.0.1']],
  ['2001:DB8:0:0::1', {}, ['2001:db8::1']],
  ['10.0.0.1', { 'x-forwarded-for': '1.1.1.1, nobody,2.2.2.2 , 300.1.1.1' }, ['1.1.1.1', '2.2.2.2', '10.0.0.1']],
  ['10.0.0.1', { 'x-forwarded-for': '1.1.1.1, 10.0.0.1' }, ['1.1.1.1', '10.0.0.1']],
  ['10.0.0.1', { 'x-forwarded-for': '1.1.1.1', 'x-real-ip': '1.1.1.1' }, ['1.1.1.1', '10.0.0.1']],
  ['10.0.0.1', { 'x-forwarded-for': '1.1.1.1', 'x-real-ip': '3.3.3.3' }, ['1.1.1.1', '3.3.3.3', '10.0.0.1']],
  ['10.0.0.1', { 'x-real-ip': '010.000.000.001' }, ['10.0.0.1']],
  ['', { 'x-real-ip': 'fe80::1%eth0' }, []],
])('a request from %j with %j comes from %j', (remote, headers, expected) => {
  expect(from(remote, headers)).toEqual(expected);
});

test('times have microseconds, and follow the wall clock', () => {
  const clock = new MicroClock();
  const text = clock.format(performance.now());
  expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  expect(Math.abs(Date.parse(text) - Date.now())).toBeLessThan(100);
});

test('managed fields are left out of objects, lists and tables', () => {
  const object = { kind: 'Pod', metadata: { name: 'p', managedFields: [{}] } };
  const bare = { kind: 'Pod', metadata: { name: 'p' } };
  expect(withoutManagedFields(object)).toEqual(bare);
  expect(object.metadata.managedFields).toHaveLength(1);
  expect(withoutManagedFields({ kind: 'Table', rows: [{ cells: ['p'], object }, { cells: [] }] })).toEqual({
    kind: 'Table',
    rows: [{ cells: ['p'], object: bare }, { cells: [] }],
  });
});

test.each([1, 2, 10_000])('managed fields are left out of an encoded list of %i objects', async (count) => {
  const list = (item: object): string =>
    JSON.stringify({ kind: 'PodList', metadata: { resourceVersion: '1' }, items: Array.from({ length: count }, () => item), empty: [] });
  const bytes = Buffer.from(list({ kind: 'Pod', metadata: { name: 'ä', managedFields: [{}] } }));
  const shown = await withoutManagedFieldsOf([bytes.subarray(0, 70), bytes.subarray(70)]);
  expect(Buffer.concat(shown).toString()).toBe(list({ kind: 'Pod', metadata: { name: 'ä' } }));
});

test.each([
  ['{ "a": [ 1,\n 2 ] }', '{"a":[1,2]}'],
  ['[{"op":"remove","path":"/a"}]', '[{"op":"remove","path":"/a"}]'],
  ['a: 1\n', '"a: 1\\n"'],
])('the patch %j is shown as %s', async (patch, shown) => {
  expect(await patchAsJson(Buffer.from(patch))).toBe(shown);
});
