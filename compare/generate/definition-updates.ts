import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';
import { HOOK_CA } from '../hook-authority.ts';
import { SCENARIO } from '../placeholders.ts';
import type { Edit, Wait } from '../step.ts';
import { DEFINITIONS, GROUP, addDefinition, addObjects } from './custom.ts';
import { makeSchema } from './custom-schema.ts';
import { type Draft, maybe, withQuery } from './draft.ts';

/* Definitions that change while there are objects of them. */

const DEFINITION = `${DEFINITIONS}/things.${GROUP}`;
const MAX_MARKS = 4;

export function addDefinitionUpdates(draft: Draft): void {
  const { random } = draft;
  const versions = random.chance(0.4) ? ['v1'] : ['v1', 'v2'];
  const kind = addDefinition(draft, versions, { strategy: 'None' });
  addObjects(draft, kind, 1 + random.below(3));
  for (let mark = 0; mark < 1 + random.below(MAX_MARKS); mark++) {
    draft.choose([
      [4, () => addUpdate(draft, versions, kind.collection('v1'), mark)],
      [1, () => addStatusUpdate(draft)],
      [0.7, () => addDefinitionPatch(draft)],
    ]);
    draft.add({ method: 'GET', path: DEFINITION }, { settles: true });
    addObjects(draft, kind, 1 + random.below(4));
  }
}

/** With a field that can be selected by once the change is served. */
function addUpdate(draft: Draft, versions: readonly string[], collection: string, mark: number): void {
  const { random } = draft;
  const field = `mark${mark}`;
  const edits = [...versions.keys()].flatMap((index): Edit[] => [
    { at: ['spec', 'versions', index, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties', field], value: { type: 'string' } },
    { at: ['spec', 'versions', index, 'selectableFields'], value: [{ jsonPath: `.spec.${field}` }] },
  ]);
  edits.push(...random.pick(CHANGES)(random, versions));
  const wait: Wait = { request: { method: 'GET', path: `${collection}?limit=1&fieldSelector=spec.${field}%3Dx` }, status: 400, not: true };
  const path = withQuery(DEFINITION, { fieldManager: maybe(random, 0.3, 'first'), dryRun: maybe(random, 0.05, 'All') });
  const isDry = path.includes('dryRun');
  draft.add({ method: 'PUT', path, body: {}, update: { of: DEFINITION, edits } }, isDry ? {} : { wait });
}

type Change = (random: Random, versions: readonly string[]) => Edit[];

const property = (versions: readonly string[], name: string, value?: Json): Edit[] =>
  versions.map((_, index) => ({
    at: ['spec', 'versions', index, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties', name],
    ...(value !== undefined && { value }),
  }));
const ofVersion = (index: number, name: string, value: Json): Edit => ({ at: ['spec', 'versions', index, name], value });

const CHANGES: readonly Change[] = [
  () => [],
  (random, versions) => property(versions, 'more', makeSchema(random)),
  (random, versions) => property(versions, 'more', makeSchema(random)),
  (random, versions) => property(versions, 'other', makeSchema(random)),
  (random, versions) => property(versions, random.pick(['more', 'count', 'host'])),
  (random, versions) => property(versions, 'count', random.pick<Json>([{ type: 'string' }, { type: 'integer', minimum: 3 }, { type: 'integer', default: 7 }])),
  (_, versions) => property(versions, 'host', { type: 'string', 'x-kubernetes-validations': [{ rule: "self.startsWith('q')" }] }),
  (_, versions) => property(versions, 'host', { type: 'string', maxLength: 2, nullable: true }),
  (random, versions) => property(versions, 'added', { type: 'string', default: random.pick(['x', '']) }),
  (_, versions) => [{ at: ['spec', 'versions', versions.length - 1, 'schema', 'openAPIV3Schema', 'required'], value: ['spec'] }],
  // The stored version becomes another, or a version is gone.
  (_, versions) => versions.map((_name, index) => ofVersion(index, 'storage', index === versions.length - 1)),
  (_, versions) => versions.map((_name, index) => ofVersion(index, 'storage', index === 0)),
  (_, versions) => (versions.length > 1 ? [ofVersion(1, 'served', false)] : []),
  (_, versions) => (versions.length > 1 ? [{ at: ['spec', 'versions', 1] }] : []),
  (_, versions) => [
    {
      at: ['spec', 'versions', versions.length],
      value: { name: 'v9', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
    },
  ],
  (_, versions) => versions.map((_name, index) => ofVersion(index, 'subresources', { status: {} })),
  (_, versions) => versions.map((_name, index) => ({ at: ['spec', 'versions', index, 'subresources'] })),
  (_, versions) => versions.map((_name, index) => ofVersion(index, 'deprecated', true)),
  (_, versions) => versions.map((_name, index) => ofVersion(index, 'additionalPrinterColumns', [{ name: 'C', type: 'integer', jsonPath: '.spec.count' }])),
  // What may not change, or only so.
  (random) => [{ at: ['spec', 'scope'], value: random.pick(['Cluster', 'Namespaced']) }],
  (random) => [{ at: ['spec', 'names', random.pick(['kind', 'plural', 'singular', 'listKind'])], value: 'other' }],
  () => [{ at: ['spec', 'names', 'shortNames'], value: ['tgs'] }],
  () => [{ at: ['spec', 'group'], value: 'other.example.com' }],
  () => [{ at: ['spec', 'preserveUnknownFields'], value: true }],
  () => [{ at: ['status', 'storedVersions'], value: ['v1'] }],
  () => [
    {
      at: ['spec', 'conversion'],
      value: {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: `https://hooks/${SCENARIO}/convert`, caBundle: HOOK_CA } },
      },
    },
  ],
];

function addStatusUpdate(draft: Draft): void {
  const { random } = draft;
  const edits = random.pick<Edit[]>([
    [{ at: ['status', 'storedVersions'], value: random.pick<Json>([['v1'], ['v2'], [], ['v1', 'v2'], ['v7']]) }],
    [{ at: ['status', 'acceptedNames', 'plural'], value: 'Not a name' }],
    [{ at: ['spec', 'scope'], value: 'Cluster' }],
  ]);
  draft.add({ method: 'PUT', path: `${DEFINITION}/status`, body: {}, update: { of: DEFINITION, edits } });
}

function addDefinitionPatch(draft: Draft): void {
  const { random } = draft;
  const [type, body] = random.pick<[string, Json]>([
    ['application/merge-patch+json', { metadata: { labels: { a: 'b' } } }],
    ['application/json-patch+json', [{ op: 'replace', path: '/spec/versions/0/served', value: true }]],
    ['application/strategic-merge-patch+json', { spec: { names: { categories: ['all', 'things'] } } }],
    ['application/apply-patch+yaml', { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { labels: { c: 'd' } } }],
  ]);
  const path = type.includes('apply') ? `${DEFINITION}?fieldManager=first` : DEFINITION;
  draft.add({ method: 'PATCH', path, body: body as JsonObject, headers: { 'content-type': type } });
}
