import { beforeEach, describe, expect, test, vi } from 'vitest';
import { configMaps } from '../apis/core/config-map.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import { GenericStore } from '../registry/generic-store.ts';
import { CacheFeed } from '../storage/cache/feed.ts';
import { openCache } from '../storage/cache/object-cache.ts';
import { jsonCodec } from '../storage/codec.ts';
import { Compacted, type Engine } from '../storage/engine.ts';
import { openMemoryEngine } from '../storage/engines/memory.ts';
import type { ApiObject } from '../api/api-object.ts';
import { StoreFollower } from './store-follower.ts';

const PREFIX = '/registry/configmaps/';

/** An engine whose watch can be cut, and lose what happens then. */
class CutEngine {
  readonly #store = openMemoryEngine();
  #cut = (): void => {};

  open(): Engine {
    return new Proxy(this.#store, {
      get: (store, name: keyof Engine) => {
        if (name === 'watch') return this.#watch;
        const value = store[name];
        return typeof value === 'function' ? value.bind(store) : value;
      },
    });
  }

  readonly #watch: Engine['watch'] = (prefix, from, sink, onError) => {
    let isCut = false;
    const watching = this.#store.watch(prefix, from, (events) => void (isCut || sink(events)));
    this.#cut = () => {
      isCut = true;
      this.#end = () => onError!(new Compacted(1));
    };
    return watching;
  };

  /** From now on nothing arrives; `end` tells so. */
  cut(): void {
    this.#cut();
  }
  #end = (): void => {};
  end(): void {
    this.#end();
  }
}

interface ConfigMap extends ApiObject {
  data?: Record<string, string>;
}

const valueOf = (name: string, data: string): Buffer =>
  Buffer.from(JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace: 'default', uid: name }, data: { data } }));

describe('a follower', () => {
  let cut: CutEngine;
  let engine: Engine;
  let store: GenericStore<ConfigMap>;
  const revisions = new Map<string, number>();
  let told: string[];

  beforeEach(() => {
    cut = new CutEngine();
    engine = cut.open();
    revisions.clear();
    told = [];
  });

  function open(): void {
    const cache = openCache(new CacheFeed(engine), PREFIX);
    store = new GenericStore<ConfigMap>({
      definition: configMaps as unknown as ResourceDefinition<ConfigMap>,
      engine,
      cache,
      codec: jsonCodec,
      keyPrefix: PREFIX,
      admission: { mutate() {}, validate() {} },
      collectsGarbage: true,
      deleteWorkers: 1,
      now: () => new Date(0),
    });
  }

  async function put(name: string, data: string): Promise<void> {
    const key = `${PREFIX}default/${name}`;
    revisions.set(name, await engine.commit({ type: 'put', key, value: valueOf(name, data), expected: revisions.get(name) ?? 0 }));
  }
  async function remove(name: string): Promise<void> {
    await engine.commit({ type: 'delete', key: `${PREFIX}default/${name}`, expected: revisions.get(name)! });
    revisions.delete(name);
  }
  const textOf = (object: ConfigMap | undefined): string => (object ? `${object.metadata.name}=${object.data!['data']}` : '-');
  const follow = (): StoreFollower<ConfigMap> =>
    new StoreFollower(
      store,
      (object, old) => void told.push(`${textOf(old)} → ${textOf(object)}`),
      () => true,
    );

  test('hears of what is loaded, where it came before that, and of every change', async () => {
    await put('a', '1');
    open();
    const follower = follow();
    await vi.waitFor(() => expect(told).toEqual(['- → a=1']));
    await put('a', '2');
    await remove('a');
    await put('b', '1');
    follower.close();
    await put('b', '2');
    expect(told.slice(1)).toEqual(['a=1 → a=2', 'a=2 → -', '- → b=1']);
  });

  test('hears what is other after a gap, once, and goes on', async () => {
    open();
    await store.ready;
    for (const name of ['a', 'b', 'c']) await put(name, '1');
    follow();
    cut.cut();
    await put('a', '2');
    await remove('b');
    await put('d', '1');
    await put('a', '3');
    expect(told).toEqual([]);
    cut.end();
    await vi.waitFor(() => expect(told).toEqual(['b=1 → -', '- → d=1', 'a=1 → a=3']));
    await put('c', '2');
    expect(told.at(-1)).toBe('c=1 → c=2');
    expect(told).toHaveLength(4);
  });

  test('ends with what its listener throws', async () => {
    open();
    await store.ready;
    let calls = 0;
    const follower = new StoreFollower(
      store,
      () => {
        calls++;
        throw new Error('enough');
      },
      () => true,
    );
    await put('a', '1');
    await put('b', '1');
    expect(calls).toBe(1);
    follower.close();
  });
});
