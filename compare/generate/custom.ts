import { isJsonObject } from '../../src/encoding/json.ts';
import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';
import { mutate } from '../../test/kinds/mutation.ts';
import { HOOK_CA } from '../hook-authority.ts';
import { SCENARIO } from '../placeholders.ts';
import type { Form } from '../step.ts';
import { type CustomSchema, makeSchema, makeValue } from './custom-schema.ts';
import { addCustomAdmission } from './custom-admission.ts';
import { addFault } from './definition-faults.ts';
import { addDelete, addDeleteCollection } from './deletes.ts';
import { type Draft, maybe, withQuery } from './draft.ts';
import { editsBetween } from './kinds.ts';
import { writeAccept } from './media-types.ts';
import { addGet, addList, addWatch } from './reads.ts';
import { jsonPatch, mergePatch } from './writes.ts';

/* Custom resources: a definition made up for the scenario, and objects of it. */

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const GROUP = `${SCENARIO}.example.com`;

export interface CustomKind {
  versions: { name: string; schema: CustomSchema }[];
  namespaced: boolean;
  hasScale: boolean;
  /** The cache that the reference watches from never fills where objects cannot be converted: what a watch says then is a matter of time. */
  hasNoWatch?: boolean;
  collection(version: string): string;
}

/** Objects of a resource with one version or two that only differ in name. */
export function addCustom(draft: Draft): void {
  const kind = addDefinition(draft, draft.random.chance(0.5) ? ['v1'] : ['v1', 'v2'], { strategy: 'None' });
  maybeAdmission(draft, kind);
  addObjects(draft, kind, 4 + draft.random.below(14));
}

/** Objects of a resource whose versions a webhook converts; now and then it does what it should not. */
export function addConverted(draft: Draft): void {
  const { random } = draft;
  const behaviour = random.chance(0.65) ? 'convert' : random.pick(['unknown-fields', 'refuse', 'drop', 'rename', 'label', 'wrong-version', 'invalid']);
  const conversion = {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: `https://hooks/${SCENARIO}/${behaviour}`, caBundle: HOOK_CA } },
  };
  const kind = { ...addDefinition(draft, random.chance(0.3) ? ['v1', 'v2', 'v3'] : ['v1', 'v2'], conversion), hasNoWatch: behaviour !== 'convert' };
  maybeAdmission(draft, kind);
  addObjects(draft, kind, 4 + random.below(10));
}

function maybeAdmission(draft: Draft, { versions }: CustomKind): void {
  if (draft.random.chance(0.3))
    addCustomAdmission(
      draft,
      GROUP,
      versions.map(({ name }) => name),
    );
}

/** Definitions that may not be: each request stands alone. */
export function addDefinitions(draft: Draft): void {
  const { random } = draft;
  for (let count = 3 + random.below(6); count > 0; count--) {
    const definition = makeDefinition(random, random.chance(0.5) ? ['v1'] : ['v1', 'v2'], { strategy: 'None' }, true).definition;
    if (random.chance(0.3)) mutate(definition, random);
    else if (random.chance(0.7)) addFault(definition, random);
    const query = { dryRun: 'All', fieldValidation: maybe(random, 0.3, random.pick(['Strict', 'Ignore'])) };
    draft.add({ method: 'POST', path: withQuery(DEFINITIONS, query), body: definition, form: random.pick<Form>(['json', 'json', 'yaml', 'protobuf']) });
  }
}

export function addDefinition(draft: Draft, versions: string[], conversion: JsonObject): CustomKind {
  const { definition, kind } = makeDefinition(draft.random, versions, conversion, false);
  const served = { method: 'GET', path: `${kind.collection('v1')}?limit=1` };
  draft.add({ method: 'POST', path: DEFINITIONS, body: definition }, { wait: { request: served, status: 404, not: true } });
  if (draft.random.chance(0.3)) draft.add({ method: 'GET', path: `${DEFINITIONS}/things.${GROUP}` }, { settles: true });
  if (draft.random.chance(0.2)) draft.add({ method: 'GET', path: `/apis/${GROUP}/v1` }, { settles: true });
  return kind;
}

export function makeDefinition(random: Random, names: string[], conversion: JsonObject, isOdd: boolean): { definition: JsonObject; kind: CustomKind } {
  const namespaced = random.chance(0.8);
  const hasStatus = random.chance(0.6);
  const hasScale = random.chance(0.3);
  const versions = names.map((name) => ({ name, schema: rootSchema(random, name, names.length > 1 && conversion['strategy'] === 'Webhook') }));
  if (conversion['strategy'] === 'None') for (const version of versions) version.schema = versions[0]!.schema;
  const stored = random.pick(names);
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${GROUP}` },
    spec: {
      group: GROUP,
      names: {
        plural: 'things',
        kind: 'Thing',
        ...(random.chance(0.5) && { singular: 'thing' }),
        ...(random.chance(0.3) && { shortNames: ['tg'], categories: ['all'], listKind: 'ThingList' }),
      },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      conversion,
      versions: versions.map(({ name, schema }) => ({
        name,
        served: true,
        storage: name === stored,
        schema: { openAPIV3Schema: schema },
        ...((hasStatus || hasScale) && {
          subresources: {
            ...(hasStatus && { status: {} }),
            ...(hasScale && {
              scale: {
                specReplicasPath: '.spec.replicas',
                statusReplicasPath: '.status.replicas',
                ...(random.chance(0.5) && { labelSelectorPath: '.status.selector' }),
              },
            }),
          },
        }),
        ...(random.chance(0.4) && { additionalPrinterColumns: columns(random) }),
        ...(random.chance(0.3) && { selectableFields: [{ jsonPath: '.spec.host' }] }),
        ...(random.chance(0.1) && { deprecated: true, ...(random.chance(0.5) && { deprecationWarning: 'use another' }) }),
      })),
      ...(isOdd && random.chance(0.1) && { preserveUnknownFields: true }),
    },
  };
  const collection = (version: string): string => `/apis/${GROUP}/${version}/${namespaced ? `namespaces/${SCENARIO}/` : ''}things`;
  return { definition: definition as unknown as JsonObject, kind: { versions, namespaced, hasScale, collection } };
}

const columns = (random: Random): Json[] =>
  [
    { name: 'Host', type: 'string', jsonPath: '.spec.host' },
    { name: 'Count', type: 'integer', jsonPath: '.spec.count', priority: 1 },
    { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'All', type: 'string', jsonPath: '.spec.list[*].name' },
    { name: 'Since', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'On', type: 'boolean', jsonPath: '.spec.on', description: 'is it' },
    { name: 'Number', type: 'number', jsonPath: '.spec.number' },
  ].filter(() => random.chance(0.5));

/** With fields that every such resource has, for converters, columns and selectors, and others that are made up. */
function rootSchema(random: Random, version: string, isConverted: boolean): CustomSchema {
  const places = isConverted && version === 'v1' ? { hostPort: { type: 'string' } } : { host: { type: 'string' }, port: { type: 'string' } };
  const spec: CustomSchema = {
    type: 'object',
    properties: {
      host: { type: 'string' },
      ...places,
      count: { type: 'integer' },
      replicas: { type: 'integer', minimum: 0 },
      more: makeSchema(random),
      other: makeSchema(random),
    },
    ...(random.chance(0.1) && { required: ['count'] }),
    ...(random.chance(0.1) && { 'x-kubernetes-preserve-unknown-fields': true }),
  };
  return {
    type: 'object',
    properties: {
      spec,
      status: { type: 'object', properties: { replicas: { type: 'integer' }, selector: { type: 'string' }, extra: makeSchema(random, 1) } },
      ...(random.chance(0.1) && { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 12 } } } }),
    },
    ...(random.chance(0.1) && { 'x-kubernetes-validations': [{ rule: "self.metadata.name != 'x'" }] }),
  };
}

export function addObjects(draft: Draft, kind: CustomKind, count: number): void {
  const { random } = draft;
  const name = (): string => random.pick([SCENARIO, SCENARIO, `${SCENARIO}-b`]);
  addCustomCreate(draft, kind, SCENARIO);
  for (; count > 0; count--) {
    const { name: version } = random.pick(kind.versions);
    const readable = { collection: kind.collection(version), namespaced: kind.namespaced };
    const path = `${readable.collection}/${name()}`;
    draft.choose([
      [4, () => addCustomCreate(draft, kind, name())],
      [3, () => addCustomUpdate(draft, kind, name())],
      [4, () => addCustomPatch(draft, kind, name())],
      [3, () => addCustomApply(draft, kind, name())],
      [2, () => addGet(draft, path)],
      [2, () => addList(draft, readable)],
      [kind.hasNoWatch ? 0 : 1, () => addWatch(draft, readable)],
      [1, () => addDelete(draft, path)],
      [0.3, () => addDeleteCollection(draft, readable)],
      [0.5, () => draft.add({ method: 'GET', path: `/apis/${GROUP}/${version}` }, { settles: true })],
      [0.2, () => draft.add({ method: 'GET', path: `/openapi/v3/apis/${GROUP}/${version}` }, { settles: true })],
      [
        kind.hasScale ? 1 : 0.1,
        () =>
          draft.add({
            method: 'PUT',
            path: `${path}/scale`,
            body: { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: SCENARIO }, spec: { replicas: random.pick([0, 2, -1]) } },
          }),
      ],
      [0.5, () => addGet(draft, `${path}/${random.pick(['scale', 'status', 'nothing'])}`)],
    ]);
  }
}

function makeObject(kind: CustomKind, random: Random, name: string): { object: JsonObject; version: string } {
  const { name: version, schema } = random.pick(kind.versions);
  const value = makeValue(schema, random) as JsonObject;
  delete value['metadata'];
  const object = { apiVersion: `${GROUP}/${version}`, kind: 'Thing', metadata: { name, ...(random.chance(0.3) && { labels: { a: 'b' } }) }, ...value };
  if (random.chance(0.2)) mutate(object, random);
  // Spread, a text would be a key for each of its characters.
  if (random.chance(0.9)) object.metadata = { ...(isJsonObject(object.metadata) && object.metadata), name };
  return { object, version };
}

const customQuery = (random: Random): Record<string, string | undefined> => ({
  dryRun: maybe(random, 0.08, 'All'),
  fieldManager: maybe(random, 0.3, random.pick(['first', 'second'])),
  fieldValidation: maybe(random, 0.5, random.pick(['Strict', 'Warn', 'Ignore'])),
});

function addCustomCreate(draft: Draft, kind: CustomKind, name: string): void {
  const { object, version } = makeObject(kind, draft.random, name);
  const form = draft.random.pick<Form>(['json', 'json', 'json', 'yaml']);
  draft.add({ method: 'POST', path: withQuery(kind.collection(version), customQuery(draft.random)), body: object, form, ...writeAccept(draft.random) });
}

function addCustomUpdate(draft: Draft, kind: CustomKind, name: string): void {
  const { random } = draft;
  const { object, version } = makeObject(kind, random, name);
  const of = `${kind.collection(version)}/${name}`;
  const edits = editsBetween({}, object).flatMap(({ at, value }) => (at[0] === 'spec' || at[0] === 'status' ? [{ at, value: value! }] : []));
  const path = withQuery(random.chance(0.2) ? `${of}/status` : of, customQuery(random));
  draft.add({ method: 'PUT', path, body: object, ...(random.chance(0.8) && { update: { of, edits } }), ...writeAccept(random) });
}

function addCustomPatch(draft: Draft, kind: CustomKind, name: string): void {
  const { random } = draft;
  const { object, version } = makeObject(kind, random, name);
  const edits = Object.entries(isJsonObject(object['spec']) ? object['spec'] : {}).map(([key, value]) =>
    random.chance(0.2) ? { at: ['spec', key] } : { at: ['spec', key], value: value as Json },
  );
  const type = random.pick([
    'application/merge-patch+json',
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
  ]);
  const subresource = random.chance(0.15) ? '/status' : random.chance(0.05) ? '/scale' : '';
  const path = withQuery(`${kind.collection(version)}/${name}${subresource}`, customQuery(random));
  const body = type.includes('json-patch') ? jsonPatch(edits, random) : mergePatch(edits);
  draft.add({ method: 'PATCH', path, body, headers: { 'content-type': type, ...writeAccept(random).headers } });
}

function addCustomApply(draft: Draft, kind: CustomKind, name: string): void {
  const { random } = draft;
  const { object, version } = makeObject(kind, random, name);
  const query = { ...customQuery(random), fieldManager: random.pick(['first', 'second']), force: maybe(random, 0.4, 'true') };
  const path = withQuery(`${kind.collection(version)}/${name}${random.chance(0.1) ? '/status' : ''}`, query);
  draft.add({ method: 'PATCH', path, body: object, headers: { 'content-type': 'application/apply-patch+yaml' } });
}
