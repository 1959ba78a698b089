import { afterEach, describe, expect, test, vi } from 'vitest';
import { decodeEnvelope, decodeProtobuf } from '../schema/protobuf.ts';
import { schemaOf } from '../apis/facts/schemas.ts';
import { resourceExpired } from '../api/errors.ts';
import { type Sent, configMap, configMaps, serve } from './test-support.ts';

const PATH = '/api/v1/namespaces/ns/configmaps?watch=1';

afterEach(() => {
  vi.useRealTimers();
});

async function startWatch(path = PATH, sent: Sent = {}) {
  const target = configMaps();
  const { exchange } = await serve(target, 'GET', path, sent);
  return {
    exchange,
    store: target.store,
    events: () =>
      exchange.text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
  };
}

/** A change as the cache would tell it; only its presence counts here. */
const CHANGE = {} as never;

describe('watch', () => {
  test('answers at once, then one line an event', async () => {
    const { exchange, store } = await startWatch();
    expect([exchange.status, exchange.answerHeaders, exchange.text]).toEqual([200, { 'content-type': 'application/json' }, '']);
    const entry = store.put(configMap('a'));
    store.sink!.send('ADDED', entry, CHANGE);
    expect(exchange.text).toBe(`{"type":"ADDED","object":${entry.bytes}}\n`);
    exchange.close();
    expect(store.isWatchClosed).toBe(true);
    store.sink!.send('MODIFIED', entry, CHANGE);
    expect(exchange.text).not.toContain('MODIFIED');
  });

  test('watchers of one form share a frame', async () => {
    const target = configMaps();
    const entry = target.store.put(configMap('a'));
    for (let i = 0; i < 3; i++) {
      const { exchange } = await serve(target, 'GET', PATH);
      target.store.sink!.send('MODIFIED', entry, CHANGE);
      exchange.close();
    }
    expect(entry.made).toEqual(['watch application/json v1 ConfigMap MODIFIED']);
  });

  test('bookmarks carry nothing but the version', async () => {
    const { exchange, store, events } = await startWatch();
    store.sink!.bookmark(7, true);
    store.sink!.bookmark(8, false);
    expect(events()).toEqual([
      {
        type: 'BOOKMARK',
        object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } } },
      },
      { type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '8' } } },
    ]);
    exchange.close();
  });

  test('tables send their columns once', async () => {
    const { exchange, store, events } = await startWatch(PATH, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
    store.sink!.send('ADDED', store.put(configMap('a')), CHANGE);
    store.sink!.send('ADDED', store.put(configMap('b')), CHANGE);
    store.sink!.bookmark(200, false);
    const [first, second, bookmark] = events();
    expect(first.object).toMatchObject({
      kind: 'Table',
      columnDefinitions: [{ name: 'Name' }, { name: 'Created At' }],
      rows: [{ cells: ['a', '2026-01-01T00:00:00Z'], object: { kind: 'PartialObjectMetadata' } }],
    });
    expect(second.object).toMatchObject({ columnDefinitions: null, metadata: { resourceVersion: '102' } });
    expect(bookmark).toMatchObject({ type: 'BOOKMARK', object: { kind: 'Table', metadata: { resourceVersion: '200' } } });
    exchange.close();
  });

  test('protobuf frames have their length in front', async () => {
    const { exchange, store } = await startWatch(PATH, { headers: { accept: 'application/vnd.kubernetes.protobuf' } });
    expect(exchange.answerHeaders).toEqual({ 'content-type': 'application/vnd.kubernetes.protobuf;stream=watch' });
    store.sink!.send('ADDED', store.put(configMap('a')), CHANGE);
    const { body } = exchange;
    expect(body.readUInt32BE(0)).toBe(body.length - 4);
    expect(body.subarray(4, 11)).toEqual(Buffer.from('\n\x05ADDED'));
    const envelope = decodeEnvelope(body.subarray(body.indexOf('k8s\0')));
    expect(decodeProtobuf(schemaOf('io.k8s.api.core.v1.ConfigMap'), envelope.raw)).toMatchObject({ metadata: { name: 'a' } });
    exchange.close();
  });

  test('metadata only', async () => {
    const { exchange, store, events } = await startWatch(PATH, { headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } });
    store.sink!.send('DELETED', store.put(configMap('a')), CHANGE);
    expect(events()).toEqual([
      { type: 'DELETED', object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: expect.objectContaining({ name: 'a' }) } },
    ]);
    exchange.close();
  });

  test('a failure is the last event', async () => {
    const { exchange, store, events } = await startWatch();
    store.sink!.fail(resourceExpired('too old resource version: 1 (5)'));
    expect(events()).toEqual([
      {
        type: 'ERROR',
        object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'too old resource version: 1 (5)', reason: 'Expired', code: 410 },
      },
    ]);
    expect([exchange.isEnded, store.isWatchClosed]).toEqual([true, true]);
  });

  test('a version too old is told inside the stream', async () => {
    const target = configMaps();
    target.store.watchError = resourceExpired('too old resource version: 1 (5)');
    const { exchange } = await serve(target, 'GET', `${PATH}&resourceVersion=1`);
    expect([exchange.status, exchange.json.type, exchange.isEnded]).toEqual([200, 'ERROR', true]);
  });

  test('ends when its time is up', async () => {
    vi.useFakeTimers();
    const { exchange, store } = await startWatch(`${PATH}&timeoutSeconds=3`);
    vi.advanceTimersByTime(2999);
    expect(exchange.isEnded).toBe(false);
    vi.advanceTimersByTime(1);
    expect([exchange.isEnded, store.isWatchClosed]).toEqual([true, true]);
    const unasked = await startWatch();
    vi.advanceTimersByTime(1_800_000 * 1.5 - 1);
    expect(unasked.exchange.isEnded).toBe(false);
    vi.advanceTimersByTime(1);
    expect(unasked.exchange.isEnded).toBe(true);
  });

  test('ends when the server ends it', async () => {
    const controller = new AbortController();
    const { exchange } = await startWatch(PATH, { signal: controller.signal });
    controller.abort();
    expect(exchange.isEnded).toBe(true);
  });

  test('a slow client gets everything in order, but is cut off when it is too far behind', async () => {
    const { exchange, store, events } = await startWatch();
    const entry = store.put(configMap('a'));
    exchange.isSlow = true;
    exchange.bufferedBytes = 300_000;
    for (let i = 0; i < 20_000; i++) store.sink!.send('ADDED', entry, undefined);
    store.sink!.send('MODIFIED', entry, CHANGE);
    expect(events()).toHaveLength(1);
    exchange.isSlow = false;
    exchange.drain();
    // What the watch begins with is written in slices of the thread's time.
    while (events().length < 20_001) await new Promise((resolve) => setImmediate(resolve));
    expect(events()).toHaveLength(20_001);
    expect(events().at(-1).type).toBe('MODIFIED');

    exchange.isSlow = true;
    for (let i = 0; i < 10_001; i++) store.sink!.send('MODIFIED', entry, CHANGE);
    expect(exchange.isDestroyed).toBe(false);
    store.sink!.send('MODIFIED', entry, CHANGE);
    expect([exchange.isDestroyed, store.isWatchClosed]).toEqual([true, true]);
  });

  test('the old paths watch, also a single object', async () => {
    const { exchange, store } = await startWatch('/api/v1/watch/namespaces/ns/configmaps/a?resourceVersion=5');
    expect(store.calls[0]).toMatchObject({ resourceVersion: '5', sendInitialEvents: undefined });
    expect((store.calls[0] as { selection: { fields: object } }).selection.fields.toString()).toBe('metadata.name=a');
    exchange.close();
    const get = await startWatch('/api/v1/namespaces/ns/configmaps/a?watch=1');
    expect(get.exchange.status).toBe(404);
  });

  test('from nowhere means the present state first', async () => {
    const { exchange, store } = await startWatch();
    expect(store.calls[0]).toMatchObject({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' });
    exchange.close();
  });

  test.each([
    [
      'sendInitialEvents=true',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ],
    ['resourceVersion=bogus', 500, 'resourceVersion: Invalid value: "bogus": strconv.ParseUint: parsing "bogus": invalid syntax'],
    ['timeoutSeconds=soon', 400, 'strconv.ParseInt: parsing "soon": invalid syntax'],
  ])('%s is refused', async (query, status, message) => {
    const { exchange } = await startWatch(`${PATH}&${query}`);
    expect([exchange.status, exchange.json.message]).toEqual([status, message]);
  });

  test('YAML cannot be streamed', async () => {
    const { exchange } = await startWatch(PATH, { headers: { accept: 'application/yaml' } });
    expect(exchange.json).toMatchObject({
      code: 406,
      message: 'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    });
  });
});
