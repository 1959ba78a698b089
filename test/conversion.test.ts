import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient, TestList } from './support/api-client.ts';
import { startServer } from './support/server.ts';
import { ALLOWED, type Responder, type ReviewRequest, WebhookServer, patched } from './support/webhook-server.ts';

/*
 * Custom resources in three versions, which a webhook converts. What admission, validation and owners see, and the words of refusals, are what
 * kube-apiserver v1.36.4 gave in scenarios of the same shape; the schemas here are smaller.
 */

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const TEXT = { type: 'string' };
const INTEGER = { type: 'integer' };
const STATUS = { type: 'object', properties: { ready: INTEGER, replicas: INTEGER } };
const SPECS: Readonly<Record<string, object>> = {
  v1beta1: {
    type: 'object',
    properties: { host: TEXT, port: { ...INTEGER, default: 80 }, replicas: INTEGER },
    required: ['host'],
    'x-kubernetes-validations': [{ rule: '!has(self.port) || self.port < 1000', message: 'beta port too high' }],
  },
  v1: { type: 'object', properties: { hostPort: TEXT, replicas: INTEGER, tier: { ...TEXT, default: 'gold' } } },
  v2: {
    type: 'object',
    properties: { address: { type: 'object', properties: { host: TEXT, port: INTEGER } }, count: { ...INTEGER, maximum: 50 }, tier: TEXT },
  },
};
const VERSIONS = Object.keys(SPECS);
const EXAMPLES: Readonly<Record<string, object>> = {
  v1beta1: { host: 'h', port: 70, replicas: 2 },
  v1: { hostPort: 'h:70', replicas: 2 },
  v2: { address: { host: 'h', port: 70 }, count: 2 },
};

interface Spec {
  host?: string | undefined;
  port?: number | undefined;
  replicas?: number | undefined;
  tier?: string | undefined;
  hostPort?: string | undefined;
  address?: { host?: string | undefined; port?: number | undefined };
  count?: number | undefined;
}
interface Thing {
  apiVersion: string;
  kind: string;
  metadata: Record<string, unknown>;
  spec?: Spec;
}

/** Through what all versions have in common. */
function convertedSpec(spec: Spec, version: string): Spec {
  const [hostInText, portInText] = spec.hostPort?.split(':') ?? [];
  const host = spec.host ?? spec.address?.host ?? hostInText;
  const port = spec.port ?? spec.address?.port ?? (portInText === undefined ? undefined : Number(portInText));
  const replicas = spec.replicas ?? spec.count;
  const { tier } = spec;
  if (version === 'v1beta1') return { host, port, replicas, tier };
  if (version === 'v1') return { hostPort: host === undefined ? undefined : `${host}${port === undefined ? '' : `:${port}`}`, replicas, tier };
  return { ...(host !== undefined && { address: { host, port } }), count: replicas, tier };
}

const converted = (object: Thing, apiVersion: string): Thing => ({
  ...object,
  apiVersion,
  ...(object.spec && { spec: convertedSpec(object.spec, apiVersion.split('/')[1]!) }),
});

interface ConversionRequest {
  uid: string;
  desiredAPIVersion: string;
  objects: Thing[];
}

const success = (convertedObjects: unknown): object => ({ result: { status: 'Success' }, convertedObjects });
const convert = ({ desiredAPIVersion, objects }: ConversionRequest): object => success(objects.map((object) => converted(object, desiredAPIVersion)));
const asResponder = (respond: (request: ConversionRequest) => object | string): Responder => respond as unknown as Responder;

let api: ApiClient;
let count = 0;

beforeAll(async () => {
  api = (await startServer()).client();
});

interface Defined {
  group: string;
  converter: WebhookServer;
  things(version: string): string;
  thing(version: string, name: string, spec: object, metadata?: object): object;
}

async function define({ reviewVersions = ['v1'], path = '/convert' }: { reviewVersions?: string[]; path?: string } = {}): Promise<Defined> {
  const converter = await new WebhookServer(asResponder(convert)).listen();
  const group = `c${++count}.example.com`;
  const versions = VERSIONS.map((name) => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: SPECS[name], status: STATUS } } },
    subresources: { status: {}, scale: { specReplicasPath: name === 'v2' ? '.spec.count' : '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    ...(name === 'v1beta1' && { selectableFields: [{ jsonPath: '.spec.host' }] }),
  }));
  const clientConfig = { ...converter.clientConfig, url: `https://127.0.0.1:${converter.port}${path}` };
  await api.create(DEFINITIONS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing', singular: 'thing' },
      versions,
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: reviewVersions, clientConfig } },
    },
  });
  return {
    group,
    converter,
    things: (version) => `/apis/${group}/${version}/namespaces/default/things`,
    thing: (version, name, spec, metadata = {}) => ({ apiVersion: `${group}/${version}`, kind: 'Thing', metadata: { name, ...metadata }, spec }),
  };
}

const create = async (path: string, object: object): Promise<Thing> => (await api.create(path, object)) as unknown as Thing;

const ruleFor = (group: string, version: string) => ({ operations: ['*'], apiGroups: [group], apiVersions: [version], resources: ['things', 'things/*'] });

async function register(
  kind: 'Mutating' | 'Validating',
  group: string,
  name: string,
  version: string,
  matchPolicy: string,
  { clientConfig }: { clientConfig: object },
): Promise<void> {
  const webhook = {
    name: `${name}.${group}`,
    clientConfig,
    rules: [ruleFor(group, version)],
    matchPolicy,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  await api.create(`${REGISTRATION}/${kind.toLowerCase()}webhookconfigurations`, {
    kind: `${kind}WebhookConfiguration`,
    apiVersion: 'admissionregistration.k8s.io/v1',
    metadata: { name: `${name}.${group}` },
    webhooks: [webhook],
  });
}

async function deny(group: string, name: string, version: string, matchPolicy: string, expression: string, messageExpression: string): Promise<void> {
  const metadata = { name: `${name}.${group}` };
  await api.create(`${REGISTRATION}/validatingadmissionpolicies`, {
    kind: 'ValidatingAdmissionPolicy',
    apiVersion: 'admissionregistration.k8s.io/v1',
    metadata,
    spec: { matchConstraints: { matchPolicy, resourceRules: [ruleFor(group, version)] }, validations: [{ expression, messageExpression }] },
  });
  await api.create(`${REGISTRATION}/validatingadmissionpolicybindings`, {
    kind: 'ValidatingAdmissionPolicyBinding',
    apiVersion: 'admissionregistration.k8s.io/v1',
    metadata,
    spec: { policyName: metadata.name, validationActions: ['Deny'] },
  });
}

const merge = (path: string, body: object) => ({
  method: 'PATCH',
  path,
  headers: { 'content-type': 'application/merge-patch+json' },
  body: JSON.stringify(body),
});
const apply = (path: string, body: object) => ({
  method: 'PATCH',
  path,
  headers: { 'content-type': 'application/apply-patch+yaml' },
  body: JSON.stringify(body),
});

/** `kind resource requestKind requestResource object oldObject`, by version. */
const versionsIn = (request: ReviewRequest & { requestResource?: { version: string } }): string => {
  const of = (object: Record<string, unknown> | null): string => (object === null ? '-' : String(object['apiVersion']).split('/')[1]!);
  const { kind, resource, requestKind, requestResource, object, oldObject } = request;
  return [kind.version, resource.version, requestKind.version, requestResource!.version, of(object), of(oldObject)].join(' ');
};

describe('admission', () => {
  test('a policy that denies one version lets no other through by it, nor that one', async () => {
    const { group, things, thing } = await define();
    const message = "'denied: ' + object.apiVersion + ' ' + request.kind.version + ' ' + request.requestKind.version";
    await deny(group, 'exact', 'v1beta1', 'Exact', "request.operation == 'DELETE'", message);
    const refusal = await api.expect(422, { method: 'POST', path: things('v1beta1'), body: JSON.stringify(thing('v1beta1', 'a', EXAMPLES['v1beta1']!)) });
    expect(refusal.json<{ message: string }>().message).toBe(
      `things.${group} "a" is forbidden: ValidatingAdmissionPolicy 'exact.${group}' with binding 'exact.${group}' denied request: denied: ${group}/v1beta1 v1beta1 v1beta1`,
    );
    for (const version of ['v1', 'v2']) await api.create(things(version), thing(version, `a-${version}`, EXAMPLES[version]!));
  });

  test('an equivalent rule sees objects, old ones too, in the version that it names', async () => {
    const { group, things, thing } = await define();
    const message = "'thirteen in ' + object.apiVersion + ' ' + request.requestKind.version + ' ' + (oldObject == null ? 'none' : oldObject.apiVersion)";
    await deny(group, 'equivalent', 'v2', 'Equivalent', "request.operation == 'DELETE' || !has(object.spec.count) || object.spec.count != 13", message);
    const refusal = { method: 'POST', path: things('v1beta1'), body: JSON.stringify(thing('v1beta1', 'a', { host: 'h', replicas: 13 })) };
    expect((await api.expect(422, refusal)).json<{ message: string }>().message).toContain(`denied request: thirteen in ${group}/v2 v1beta1 none`);
    await api.create(things('v1beta1'), thing('v1beta1', 'a', { host: 'h', replicas: 12 }));
    const change = await api.expect(422, merge(`${things('v1')}/a`, { spec: { replicas: 13 } }));
    expect(change.json<{ message: string }>().message).toContain(`denied request: thirteen in ${group}/v2 v1 ${group}/v2`);
  });

  test.each(['Mutating', 'Validating'] as const)('%s webhooks are asked as their rules and policies say', async (kind) => {
    const { group, things, thing } = await define();
    const hooks = new Map<string, WebhookServer>();
    for (const policy of ['Exact', 'Equivalent'])
      for (const version of VERSIONS) {
        const hook = await new WebhookServer().listen();
        hooks.set(`${policy} ${version}`, hook);
        await register(kind, group, `${policy.toLowerCase()}-${version}`, version, policy, hook);
      }
    const seen = (): Record<string, string> =>
      Object.fromEntries([...hooks].flatMap(([name, { requests }]) => requests.splice(0).map((request) => [name, versionsIn(request)])));
    await api.create(things('v1beta1'), thing('v1beta1', 'a', EXAMPLES['v1beta1']!));
    expect(seen()).toEqual({
      'Exact v1beta1': 'v1beta1 v1beta1 v1beta1 v1beta1 v1beta1 -',
      'Equivalent v1beta1': 'v1beta1 v1beta1 v1beta1 v1beta1 v1beta1 -',
      'Equivalent v1': 'v1 v1 v1beta1 v1beta1 v1 -',
      'Equivalent v2': 'v2 v2 v1beta1 v1beta1 v2 -',
    });
    await api.expect(200, merge(`${things('v1')}/a`, { metadata: { labels: { a: 'b' } } }));
    const changed = {
      'Exact v1': 'v1 v1 v1 v1 v1 v1',
      'Equivalent v1beta1': 'v1beta1 v1beta1 v1 v1 v1beta1 v1beta1',
      'Equivalent v1': 'v1 v1 v1 v1 v1 v1',
      'Equivalent v2': 'v2 v2 v1 v1 v2 v2',
    };
    expect(seen()).toEqual(changed);
    await api.expect(200, merge(`${things('v1')}/a/status`, { status: { ready: 1 } }));
    expect(seen()).toEqual(changed);
    await api.expect(200, { method: 'DELETE', path: `${things('v2')}/a` });
    expect(seen()).toEqual({
      'Exact v2': 'v2 v2 v2 v2 - v2',
      'Equivalent v1beta1': 'v1beta1 v1beta1 v2 v2 - v1beta1',
      'Equivalent v1': 'v1 v1 v2 v2 - v1',
      'Equivalent v2': 'v2 v2 v2 v2 - v2',
    });
  });

  test('what webhooks change is validated in the version of the request', async () => {
    const { group, things, thing } = await define();
    const port = await new WebhookServer(({ object }) => (object?.['kind'] ? patched({ op: 'add', path: '/spec/port', value: 5000 }) : ALLOWED)).listen();
    await register('Mutating', group, 'port', 'v1beta1', 'Exact', port);
    const refusal = await api.expect(422, { method: 'POST', path: things('v1beta1'), body: JSON.stringify(thing('v1beta1', 'a', { host: 'h' })) });
    expect(refusal.json<{ message: string }>().message).toBe(`Thing.${group} "a" is invalid: spec: Invalid value: beta port too high`);
    const many = await new WebhookServer(() => patched({ op: 'add', path: '/spec/count', value: 99 })).listen();
    await register('Mutating', group, 'many', 'v2', 'Equivalent', many);
    expect((await create(things('v1'), thing('v1', 'b', { hostPort: 'h:1' }))).spec).toEqual({ hostPort: 'h:1', replicas: 99, tier: 'gold' });
    const direct = await api.expect(422, { method: 'POST', path: things('v2'), body: JSON.stringify(thing('v2', 'c', {})) });
    expect(direct.json<{ message: string }>().message).toContain('spec.count: Invalid value: 99: spec.count in body should be less than or equal to 50');
  });

  test('what a webhook adds in another version is stored, though the version of the request does not know it', async () => {
    const { group, things, thing } = await define();
    const mutating = await new WebhookServer(() => patched({ op: 'add', path: '/spec/tier', value: 'hooked' })).listen();
    const validating = await new WebhookServer().listen();
    await register('Mutating', group, 'tier', 'v2', 'Equivalent', mutating);
    await register('Validating', group, 'seen', 'v1beta1', 'Exact', validating);
    const created = await create(things('v1beta1'), thing('v1beta1', 'a', { host: 'h' }));
    expect(created.spec).toEqual({ host: 'h', port: 80 });
    expect(validating.requests[0]!.object).toMatchObject({ apiVersion: `${group}/v1beta1`, spec: { host: 'h', port: 80, tier: 'hooked' } });
    expect((await api.get<Thing>(`${things('v1')}/a`)).spec).toEqual({ hostPort: 'h:80', tier: 'hooked' });
  });

  test('a conversion that fails on the way to a webhook or a policy is told as the reference tells it', async () => {
    const { group, converter, things, thing } = await define();
    await register('Mutating', group, 'm', 'v2', 'Equivalent', await new WebhookServer().listen());
    converter.respond = asResponder((request) =>
      request.desiredAPIVersion.endsWith('/v2') ? { result: { status: 'Failed', message: 'no v2 today' } } : convert(request),
    );
    const send = { method: 'POST', path: things('v1'), body: JSON.stringify(thing('v1', 'a', {})) };
    expect((await api.expect(500, send)).json<{ message: string }>().message).toBe(
      `Internal error occurred: Internal error occurred: conversion webhook for ${group}/v1, Kind=Thing failed: no v2 today`,
    );
  });
});

describe('owners', () => {
  const ownersOf = ({ metadata }: Thing): string[] =>
    (metadata['managedFields'] as { manager: string; apiVersion: string; fieldsV1: object }[]).map(
      ({ manager, apiVersion, fieldsV1 }) => `${manager} ${apiVersion.split('/')[1]} ${JSON.stringify(fieldsV1)}`,
    );

  test('speak the version in which they wrote; conflicts name their fields in it', async () => {
    const { group, things, thing } = await define();
    const path = (version: string, query: string): string => `${things(version)}/p?${query}`;
    await api.expect(201, apply(path('v1', 'fieldManager=a'), thing('v1', 'p', { hostPort: 'h:7' })));
    const conflict = await api.expect(409, apply(path('v2', 'fieldManager=b'), thing('v2', 'p', { address: { host: 'z' } })));
    expect(conflict.json<{ message: string }>().message).toBe('Apply failed with 1 conflict: conflict with "a": .spec.hostPort');
    await api.expect(200, apply(path('v2', 'fieldManager=b'), thing('v2', 'p', { count: 4 })));
    const taken = await api.expect(409, apply(path('v1', 'fieldManager=c'), thing('v1', 'p', { replicas: 5 })));
    expect(taken.json<{ message: string }>().message).toBe('Apply failed with 1 conflict: conflict with "b": .spec.count');
    const forced = (await api.expect(200, apply(path('v1', 'fieldManager=c&force=true'), thing('v1', 'p', { replicas: 5 })))).json<Thing>();
    expect(ownersOf(forced)).toEqual(['a v1 {"f:spec":{"f:hostPort":{}}}', 'c v1 {"f:spec":{"f:replicas":{}}}']);
    await api.expect(200, merge(path('v2', 'fieldManager=d'), { spec: { count: 8 } }));
    const read = await api.get<Thing>(`${things('v1')}/p`);
    expect(ownersOf(read)).toEqual(['a v1 {"f:spec":{"f:hostPort":{}}}', 'd v2 {"f:spec":{"f:count":{}}}']);
    const updated = await api.expect(409, apply(path('v1', 'fieldManager=e'), thing('v1', 'p', { replicas: 3 })));
    expect(updated.json<{ message: string }>().message).toBe(`Apply failed with 1 conflict: conflict with "d" using ${group}/v2: .spec.count`);
  });

  test('whose version does not know what the object has: an apply is refused, an update goes on without owners', async () => {
    const { things, thing } = await define();
    await api.expect(201, apply(`${things('v1beta1')}/p?fieldManager=a`, thing('v1beta1', 'p', { host: 'h' })));
    const refusal = await api.expect(500, apply(`${things('v1')}/p?fieldManager=b`, thing('v1', 'p', { replicas: 1 })));
    expect(refusal.json<{ message: string }>().message).toBe('.spec.tier: field not declared in schema');
    const updated = (await api.expect(200, merge(`${things('v1')}/p`, { spec: { replicas: 1 } }))).json<Thing>();
    expect(updated.metadata['managedFields']).toBeUndefined();
  });
});

describe('the converter', () => {
  test('is not asked where versions are the same, and once for a list', async () => {
    const { converter, things, thing } = await define({ reviewVersions: ['v2', 'v1beta1'] });
    for (const name of ['a', 'b', 'c']) await api.create(things('v1'), thing('v1', name, EXAMPLES['v1']!));
    await api.get<TestList>(things('v1'));
    expect(converter.requests).toEqual([]);
    expect((await api.get<TestList>(things('v2'))).items.map(({ spec }) => spec)).toEqual(['a', 'b', 'c'].map(() => ({ ...EXAMPLES['v2'], tier: 'gold' })));
    expect(converter.bodies.map(({ apiVersion }) => apiVersion)).toEqual(['apiextensions.k8s.io/v1beta1']);
  });

  test('that answers for one object only is asked for each', async () => {
    const { converter, things, thing } = await define();
    for (const name of ['a', 'b']) await api.create(things('v1'), thing('v1', name, EXAMPLES['v1']!));
    converter.respond = asResponder((request) => convert({ ...request, objects: request.objects.slice(0, 1) }));
    expect((await api.get<TestList>(things('v2'))).items).toHaveLength(2);
  });

  test('fields that it adds and the version does not know are pruned', async () => {
    const { converter, things, thing } = await define();
    converter.respond = asResponder(({ desiredAPIVersion, objects }) =>
      success(
        objects.map((object) => ({ ...converted(object, desiredAPIVersion), spec: { ...converted(object, desiredAPIVersion).spec, zzz: { a: 1 } }, other: 5 })),
      ),
    );
    await api.create(things('v2'), thing('v2', 'a', EXAMPLES['v2']!));
    for (const version of VERSIONS) {
      const read = await api.get<Thing & { other?: unknown }>(`${things(version)}/a`);
      expect(read.spec).toEqual({ ...EXAMPLES[version], ...(version !== 'v1beta1' && { tier: 'gold' }) });
      expect(read.other).toBeUndefined();
    }
    await api.expect(200, apply(`${things('v2')}/a?fieldManager=x&force=true`, thing('v2', 'a', { count: 7 })));
  });

  test('selectors look at converted objects', async () => {
    const { converter, things, thing } = await define();
    for (const host of ['a', 'b']) await api.create(things('v1'), thing('v1', host, { hostPort: `${host}:1` }));
    const names = async (query: string): Promise<unknown[]> =>
      (await api.get<TestList>(`${things('v1beta1')}?${query}`)).items.map(({ metadata }) => metadata['name']);
    expect(await names('fieldSelector=spec.host%3Db')).toEqual(['b']);
    converter.respond = asResponder(({ desiredAPIVersion, objects }) =>
      success(
        objects.map((object) => ({ ...converted(object, desiredAPIVersion), metadata: { ...object.metadata, labels: { is: object.metadata['name'] } } })),
      ),
    );
    await api.expect(200, merge(`${things('v1')}/a`, { spec: { replicas: 1 } }));
    expect(await names('labelSelector=is%3Da&limit=1')).toEqual(['a']);
  });

  test('a deletion that waits for finalizers answers with what was stored, read again; a dry run with what would be', async () => {
    const { converter, things, thing } = await define();
    await api.create(things('v1'), thing('v1', 'a', EXAMPLES['v1']!));
    // Every conversion counts: to be marked, when it is stored, and when it is shown.
    converter.respond = asResponder(({ desiredAPIVersion, objects }) =>
      success(
        objects.map((object) =>
          converted({ ...object, spec: { ...object.spec, replicas: (object.spec!.replicas ?? object.spec!.count!) + 1 } }, desiredAPIVersion),
        ),
      ),
    );
    const deletion = async (options: object): Promise<Spec> => {
      const answer = await api.expect(200, { method: 'DELETE', path: `${things('v2')}/a`, body: { orphanDependents: true, ...options } });
      return answer.json<Thing>().spec!;
    };
    expect((await deletion({ dryRun: ['All'] })).count).toBe(5);
    expect((await deletion({})).count).toBe(5);
  });

  test('a list of one name asks for its key, whatever else is selected', async () => {
    const { converter, things, thing } = await define();
    for (const name of ['a', 'b']) await api.create(things('v1'), thing('v1', name, EXAMPLES['v1']!));
    const query = `${things('v2')}?fieldSelector=metadata.name%3D%3Da%2Cmetadata.name!%3Dx`;
    expect((await api.get<TestList>(query)).items).toHaveLength(1);
    expect((converter.bodies as unknown as { request: ConversionRequest }[]).map(({ request }) => request.objects.length)).toEqual([1]);
    const late = await api.expect(504, { path: `${query}&limit=2&resourceVersion=99999999999` });
    expect(late.headers['retry-after']).toBeUndefined();
  });

  const answer = (change: (object: Record<string, unknown> & { metadata: Record<string, unknown> }) => void) => (request: ConversionRequest) =>
    success(
      request.objects.map((object) => {
        const copy = structuredClone(converted(object, request.desiredAPIVersion)) as unknown as Parameters<typeof change>[0];
        change(copy);
        return copy;
      }),
    );
  const ASKED = 'conversion webhook for GROUP/v1, Kind=Thing';
  test.each<[string, (request: ConversionRequest) => object | string, string]>([
    ['nothing', () => '', `${ASKED} failed: 0-length response with status code: 200 and content type: application/json`],
    ['no review', () => '{}', `${ASKED} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=`],
    [
      'another kind',
      () => '{"kind":"Pod","apiVersion":"v1"}',
      `${ASKED} failed: no kind "Pod" is registered for version "v1" in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"`,
    ],
    [
      'another uid',
      (request) => ({ ...convert(request), uid: 5 }),
      `${ASKED} failed: json: cannot unmarshal number into Go struct field ConversionResponse.response.uid of type types.UID`,
    ],
    ['no result', () => ({}), `${ASKED} failed: response.result.status was '', not 'Success'`],
    ['a refusal', () => ({ result: { status: 'Failed', message: 'because' } }), `${ASKED} failed: because`],
    ['too few objects', () => success([]), `${ASKED} returned 0 objects, expected 1`],
    ['null', () => success([null]), 'unexpected end of JSON input'],
    ['a number', () => success([4]), 'json: cannot unmarshal number into Go value of type map[string]interface {}'],
    ['no kind', () => success([{ a: 1 }]), `Object 'Kind' is missing in '{"a":1}'`],
    [
      'what it was sent',
      ({ objects }) => success(objects),
      `${ASKED} returned invalid object at index 0: invalid groupVersion (expected GROUP/v2, received GROUP/v1)`,
    ],
    [
      'another kind of object',
      answer((object) => (object['kind'] = 'Other')),
      `${ASKED} returned invalid object at index 0: invalid kind (expected Thing, received Other)`,
    ],
    ['another name', answer(({ metadata }) => (metadata['name'] = 'y')), `${ASKED} returned invalid object: must have the same name: x != y`],
    [
      'another namespace',
      answer(({ metadata }) => delete metadata['namespace']),
      `${ASKED} returned invalid object: must have the same namespace: default != `,
    ],
    ['no metadata', answer((object) => Object.assign(object, { metadata: null })), `${ASKED} returned invalid object: must have the same name: x != `],
    [
      'labels of numbers',
      answer(({ metadata }) => (metadata['labels'] = { a: 5 })),
      `${ASKED} returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object`,
    ],
    [
      'labels in a list',
      answer(({ metadata }) => (metadata['labels'] = [])),
      `${ASKED} returned invalid metadata: invalid metadata.labels of type []interface {} in converted object`,
    ],
  ])('that answers with %s', async (_what, respond, message) => {
    const { group, converter, things, thing } = await define();
    await api.create(things('v1'), thing('v1', 'x', { replicas: 1 }));
    converter.respond = asResponder(respond);
    const refusal = await api.expect(500, { path: `${things('v2')}/x` });
    expect(refusal.json<{ message: string }>().message).toBe(message.replaceAll('GROUP', group));
    expect((await api.expect(500, { path: things('v2') })).json<{ message: string }>().message).toBe(message.replaceAll('GROUP', group));
    converter.respond = asResponder(convert);
    expect((await api.get<Thing>(`${things('v2')}/x`)).spec).toEqual({ count: 1, tier: 'gold' });
  });
});

describe('paths of webhooks are cleaned', () => {
  const PATHS = [
    ['', '/'],
    ['//v', '/v'],
    ['/a//b', '/a/b'],
    ['/v/', '/v'],
    ['/a%2Fb', '/a/b'],
    ['/a/../b/.', '/b'],
    ['/a%20b!', '/a%20b%21'],
  ] as const;

  test.each(PATHS)('of a converter: %s → %s', async (path, expected) => {
    const { converter, things, thing } = await define({ path });
    await api.create(things('v2'), thing('v2', 'a', {}));
    expect(new Set(converter.paths)).toEqual(new Set([expected]));
  });

  test.each(PATHS)('of an admission webhook: %s → %s', async (path, expected) => {
    const { group, things, thing } = await define();
    const hook = await new WebhookServer().listen();
    await register('Validating', group, 'path', 'v1', 'Exact', { clientConfig: { ...hook.clientConfig, url: `https://127.0.0.1:${hook.port}${path}` } });
    await api.create(things('v1'), thing('v1', 'a', {}));
    expect(hook.paths).toEqual([expected]);
  });
});
