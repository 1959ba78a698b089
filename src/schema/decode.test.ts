import { describe, expect, test } from 'vitest';
import { parseJson } from '../encoding/json.ts';
import type { DuplicateKeys } from '../encoding/json-parser.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { convert, convertInSlices, decode, decodeInSlices } from './decode.ts';
import { normalize } from './normalize.ts';
import { thing } from './test-schemas.ts';

const decodeText = (text: string): string => JSON.stringify(decode(thing, parseJson(text)));
const complaints = (text: string): string[] => {
  const duplicates: DuplicateKeys = new Map();
  const errors: string[] = [];
  decode(thing, parseJson(text, duplicates), { duplicates, errors });
  return errors;
};

describe('decode', () => {
  test('writes fields in the order of the struct, and what Go writes for empty ones', () => {
    expect(
      decodeText('{"spec":{"containers":[{"image":"i","name":"a"}]},"metadata":{"labels":{"b":"1","a":"2"},"name":"x"},"apiVersion":"v1","kind":"Thing"}'),
    ).toBe(
      '{"kind":"Thing","apiVersion":"v1","metadata":{"name":"x","labels":{"a":"2","b":"1"}},"spec":{"containers":[{"name":"a","image":"i","resources":{}}]}}',
    );
    expect(decodeText('{}')).toBe('{"metadata":{},"spec":{"containers":null}}');
    expect(decodeText('null')).toBe('{"metadata":{},"spec":{"containers":null}}');
  });

  test('tells zero from none only behind a pointer', () => {
    expect(decodeText('{"spec":{"replicas":0,"minReadySeconds":0,"paused":false,"target":0,"volumes":[{"emptyDir":{}}],"containers":[]}}')).toBe(
      '{"metadata":{},"spec":{"replicas":0,"target":0,"containers":null,"volumes":[{"name":"","emptyDir":{}}]}}',
    );
  });

  test('takes null for no value', () => {
    expect(decodeText('{"metadata":null,"spec":{"replicas":null,"paused":null,"raw":null,"containers":[null],"settings":{"a":null}}}')).toBe(
      '{"metadata":{},"spec":{"containers":[{"name":"","resources":{}}],"settings":{"a":{"name":"","resources":{}}}}}',
    );
  });

  test('brings scalars into their canonical form', () => {
    const text =
      '{"metadata":{"creationTimestamp":"2020-01-02T03:04:05.6+01:00"},"spec":{"timeout":"90s","seen":"2020-01-02T03:04:05.000006+01:00","containers":[{"name":"a","resources":{"limits":{"memory":"1024Mi","cpu":1.5}}}]},"data":{"a":"aGk=\\n"}}';
    expect(decodeText(text)).toBe(
      '{"metadata":{"creationTimestamp":"2020-01-02T02:04:05Z"},"spec":{"timeout":"1m30s","seen":"2020-01-02T02:04:05.000006Z","containers":[{"name":"a","resources":{"limits":{"cpu":"1500m","memory":"1Gi"}}}]},"data":{"a":"aGk="}}',
    );
  });

  test('takes lists of numbers for bytes', () => {
    expect(decodeText('{"data":{"a":[104,null,105],"b":[]}}')).toContain(`"data":{"a":"${Buffer.from([104, 0, 105]).toString('base64')}","b":""}`);
  });

  test('keeps large integers and odd keys', () => {
    const decoded = decode(
      thing,
      parseJson('{"metadata":{"generation":9007199254740993,"labels":{"__proto__":"x","constructor":"y"}},"spec":{"raw":{"z":1,"a":[]}}}'),
    );
    expect((decoded['metadata'] as JsonObject)['generation']).toBe(9007199254740993n);
    expect(Object.keys((decoded['metadata'] as JsonObject)['labels'] as JsonObject)).toEqual(['__proto__', 'constructor']);
    expect((decoded['spec'] as JsonObject)['raw']).toEqual({ z: 1, a: [] });
  });

  test('normalizing again changes nothing', () => {
    const once = normalize(
      thing,
      parseJson('{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80}]}],"seen":"2020-01-02T03:04:05.000006Z"}}') as JsonObject,
    );
    expect(JSON.stringify(normalize(thing, once))).toBe(JSON.stringify(once));
  });

  test.each([
    ['{"spec":{"replicas":"3"}}', 'json: cannot unmarshal string into Go struct field ThingSpec.spec.replicas of type int32'],
    ['{"spec":{"replicas":4294967296}}', 'json: cannot unmarshal number 4294967296 into Go struct field ThingSpec.spec.replicas of type int32'],
    ['{"spec":{"replicas":1e+300}}', 'json: cannot unmarshal number 1e+300 into Go struct field ThingSpec.spec.replicas of type int32'],
    ['{"spec":{"replicas":1.5}}', 'json: cannot unmarshal number 1.5 into Go struct field ThingSpec.spec.replicas of type int32'],
    ['{"data":{"a":[256]}}', 'json: cannot unmarshal number 256 into Go struct field Thing.data of type uint8'],
    ['{"data":{"a":["x"]}}', 'json: cannot unmarshal string into Go struct field Thing.data of type uint8'],
    ['{"spec":{"paused":1}}', 'json: cannot unmarshal number into Go struct field ThingSpec.spec.paused of type bool'],
    ['{"spec":{"containers":["a"]}}', 'json: cannot unmarshal string into Go struct field ThingSpec.spec.containers of type v1.Container'],
    ['{"spec":{"containers":{}}}', 'json: cannot unmarshal object into Go struct field ThingSpec.spec.containers of type []v1.Container'],
    [
      '{"spec":{"volumes":[{"emptyDir":[]}]}}',
      'json: cannot unmarshal array into Go struct field Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource',
    ],
    ['{"spec":{"target":{}}}', 'json: cannot unmarshal object into Go struct field ThingSpec.spec.target of type int32'],
    [
      '{"spec":{"containers":[{"resources":{"limits":"x"}}]}}',
      'json: cannot unmarshal string into Go struct field ResourceRequirements.spec.containers.resources.limits of type v1.ResourceList',
    ],
    ['{"metadata":{"labels":{"a":5}}}', 'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string'],
    ['{"metadata":{"creationTimestamp":{}}}', 'json: cannot unmarshal object into Go struct field ObjectMeta.metadata.creationTimestamp of type string'],
    ['{"data":5}', 'json: cannot unmarshal number into Go struct field Thing.data of type map[string][]uint8'],
    ['{"data":{"a":"?"}}', 'illegal base64 data at input byte 0'],
    ['{"data":{"a":"aGk"}}', 'illegal base64 data at input byte 0'],
    ['{"data":{"a":"aGk=x"}}', 'illegal base64 data at input byte 4'],
    ['[]', 'json: cannot unmarshal array into Go value of type v1.Thing'],
    ['{"spec":{"timeout":"1x"}}', 'time: unknown unit "x" in duration "1x"'],
    // The first mismatch is told, but for what a type's own unmarshaler says.
    ['{"spec":{"paused":1,"replicas":"3"}}', 'json: cannot unmarshal number into Go struct field ThingSpec.spec.paused of type bool'],
    ['{"spec":{"paused":1,"target":[]}}', 'json: cannot unmarshal array into Go struct field ThingSpec.spec.target of type int32'],
  ])('refuses %s', (text, message) => expect(() => decode(thing, parseJson(text))).toThrow(new Error(message)));

  test('finds unknown and repeated fields, in the order of the text', () => {
    expect(
      complaints('{"metadata":{"name":"a","name":"b"},"extra":{"x":1,"x":2},"spec":{"containers":[{"name":"a","foo":1}],"Replicas":1,"raw":{"a":1,"a":2}}}'),
    ).toEqual(['duplicate field "metadata.name"', 'unknown field "extra"', 'unknown field "spec.containers[0].foo"', 'unknown field "spec.Replicas"']);
    expect(complaints('{"metadata":{"name":"a","foo":1,"name":"b","labels":{"x":"1","x":"2"}}}')).toEqual([
      'unknown field "metadata.foo"',
      'duplicate field "metadata.name"',
      'duplicate field "metadata.labels.x"',
    ]);
    expect(complaints('{"metadata":{"labels":{"x":"1","x":"2"},"foo":1},"spec":{"bar":1,"replicas":1},"metadata":{"name":"a","name":"b"}}')).toEqual([
      'duplicate field "metadata.labels.x"',
      'unknown field "metadata.foo"',
      'unknown field "spec.bar"',
      'duplicate field "metadata"',
      'duplicate field "metadata.name"',
    ]);
    expect(complaints(`{${Array.from({ length: 300 }, (_, index) => `"k${index}":1`).join(',')}}`)).toHaveLength(100);
  });
});

describe('convert', () => {
  test.each([
    ['{"spec":{"replicas":"3"}}', 'unrecognized type: int32'],
    ['{"spec":{"replicas":1.5}}', 'cannot convert float64 to int32'],
    ['{"metadata":{"name":5}}', 'cannot convert int64 to string'],
    ['{"metadata":{"name":true}}', 'unrecognized type: string'],
    ['{"data":{"a":[{}]}}', 'unrecognized type: uint8'],
    ['{"metadata":"x"}', 'cannot restore struct from: string'],
    ['{"spec":"x","metadata":5}', 'cannot restore struct from: int64'],
    ['{"spec":{"containers":"x"}}', 'cannot restore slice from string'],
    ['{"metadata":{"labels":[]}}', 'cannot restore map from slice'],
    ['{"spec":{"target":{}}}', 'json: cannot unmarshal object into Go value of type int32'],
    ['{"data":{"a":"?"}}', 'error decoding from json: illegal base64 data at input byte 0'],
  ])('refuses %s as the converter does', (text, message) => expect(() => convert(thing, parseJson(text) as JsonObject)).toThrow(new Error(message)));

  test('takes the lowest bits of integers that are too large', () => {
    expect(convert(thing, { spec: { replicas: 3_000_000_000 } })).toMatchObject({ spec: { replicas: -1_294_967_296 } });
    expect(convert(thing, { spec: { replicas: 2n ** 62n + 7n } })).toMatchObject({ spec: { replicas: 7 } });
    expect(convert(thing, { data: { a: [1000, 104] } })).toMatchObject({ data: { a: Buffer.from([232, 104]).toString('base64') } });
  });

  test('writes what has no type with sorted keys', () => {
    const raw = { b: { z: 1, y: 2 }, a: [{ d: 1, c: 2 }] };
    expect(JSON.stringify(convert(thing, { spec: { raw } }))).toContain('{"a":[{"c":2,"d":1}],"b":{"y":2,"z":1}}');
  });

  test('tells unknown fields in the order of their names', () => {
    const errors: string[] = ['duplicate field "z"'];
    convert(thing, { z: 1, b: 2, spec: { a: 1 } }, { errors });
    expect(errors).toEqual(['duplicate field "z"', 'unknown field "b"', 'unknown field "spec.a"', 'unknown field "z"']);
    const many: string[] = [];
    convert(thing, Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`u${index}`, 1])), { errors: many });
    expect(many).toHaveLength(150);
  });
});

describe('decode in slices', () => {
  const container = (index: number) => ({ image: 'i', name: `c${index}`, unknown: index });
  const many = (count: number) => Array.from({ length: count }, (_, index) => container(index));
  const large = (): JsonObject => ({
    metadata: { name: 'x', nothing: 1 },
    spec: { volumes: many(5), containers: many(60_000), settings: Object.fromEntries(many(5_000).map((item) => [item.name, item])) },
  });
  /** Lists and maps that are all short. */
  const wide = (): JsonObject => ({
    spec: {
      containers: many(60).map((item) => ({ ...item, args: item.name.repeat(20).split(''), ports: many(300).map(() => ({ containerPort: 1, odd: 1 })) })),
    },
  });

  test('is the same as at once, and so are its complaints', async () => {
    const [atOnce, inSlices] = [{ errors: [] }, { errors: [] }];
    const decoding = decodeInSlices(thing, large(), inSlices);
    expect(decoding).toBeInstanceOf(Promise);
    expect(await decoding).toEqual(decode(thing, large(), atOnce));
    expect(inSlices).toEqual(atOnce);
  });

  test.each([large, wide])('is the same of what was merged', async (make) => {
    const [atOnce, inSlices] = [{ errors: [] }, { errors: [] }];
    const converting = convertInSlices(thing, make(), inSlices);
    expect(converting).toBeInstanceOf(Promise);
    expect(JSON.stringify(await converting)).toBe(JSON.stringify(convert(thing, make(), atOnce)));
    expect(inSlices).toEqual(atOnce);
  });

  test('tells the first mismatch, however often it began', async () => {
    const wrong = { spec: { containers: [...many(30_000), { name: 1 }, ...many(30_000), { image: 2 }] } };
    await expect((async () => decodeInSlices(thing, wrong))()).rejects.toThrow(messageOf(() => decode(thing, wrong)));
  });

  test('a list that stands in two places is two lists', async () => {
    const shared = many(30_000);
    const { spec } = (await decodeInSlices(thing, { spec: { containers: shared, volumes: shared } })) as { spec: Record<string, unknown[]> };
    expect(spec['containers']).not.toBe(spec['volumes']);
    expect(spec['volumes']).toHaveLength(30_000);
  });
});

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
}
