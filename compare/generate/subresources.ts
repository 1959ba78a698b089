import type { ObjectSchema } from '../../src/schema/schema.ts';
import { isJsonObject } from '../../src/encoding/json.ts';
import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';
import { mutate } from '../../test/kinds/mutation.ts';
import { vary } from '../../test/kinds/variation.ts';
import { SCENARIO } from '../placeholders.ts';
import { type Draft, maybe, withQuery } from './draft.ts';
import { type Kind, editsBetween } from './kinds.ts';
import { addGet } from './reads.ts';
import { addPatch, jsonPatch, mergePatch, writeQuery } from './writes.ts';

/** A request of one of the kind's subresources; false where it has none that scenarios use. */
export function addSubresource(draft: Draft, kind: Kind, name: string): boolean {
  const { random } = draft;
  const names = Object.keys(kind.facts.subresources).filter((subresource) => !['proxy', 'exec', 'attach', 'portforward', 'log'].includes(subresource));
  if (names.length === 0) return false;
  const subresource = random.pick(names);
  const path = `${kind.collection}/${name}/${subresource}`;
  if (random.chance(0.1)) addGet(draft, path);
  else if (subresource === 'scale') addScale(draft, kind, path);
  else if (subresource === 'status' || subresource === 'approval') addStatus(draft, kind, name, subresource);
  else if (kind.facts.subresources[subresource]!.verbs.includes('create')) addAction(draft, kind, path, subresource);
  else addPatch(draft, kind, name, `/${subresource}`);
  return true;
}

/** A status made up from its schema, put or patched in, with something of the rest that must not change. */
function addStatus(draft: Draft, kind: Kind, name: string, subresource: string): void {
  const { random } = draft;
  const status = statusOf(kind.schema, random);
  const of = `${kind.collection}/${name}`;
  const edits = editsBetween({}, { status, ...(random.chance(0.2) && { spec: {} }) }).flatMap(({ at, value }) =>
    at.length === 1 && isJsonObject(value) ? Object.entries(value).map(([key, inner]) => ({ at: [...at, key], value: inner! })) : [{ at, value: value! }],
  );
  if (random.chance(0.2)) edits.push({ at: ['metadata', 'labels'], value: { changed: 'by-status' } });
  const path = withQuery(`${of}/${subresource}`, { ...writeQuery(kind, random), fieldManager: maybe(random, 0.5, 'status-writer') });
  draft.choose([
    [3, () => draft.add({ method: 'PUT', path, update: { of, edits }, body: { kind: kind.facts.kind, metadata: { name }, status } })],
    [1, () => draft.add({ method: 'PATCH', path, body: mergePatch(edits), headers: { 'content-type': 'application/merge-patch+json' } })],
    [1, () => draft.add({ method: 'PATCH', path, body: mergePatch(edits), headers: { 'content-type': 'application/strategic-merge-patch+json' } })],
    [1, () => draft.add({ method: 'PATCH', path, body: jsonPatch(edits, random), headers: { 'content-type': 'application/json-patch+json' } })],
    [
      1,
      () =>
        draft.add({
          method: 'PATCH',
          path: withQuery(`${of}/${subresource}`, { fieldManager: 'status-applier', force: maybe(random, 0.5, 'true') }),
          body: {
            apiVersion: kind.schema.kinds[0]?.group ? `${kind.facts.group}/${kind.facts.version}` : kind.facts.version,
            kind: kind.facts.kind,
            metadata: { name },
            status,
          },
          headers: { 'content-type': 'application/apply-patch+yaml' },
        }),
    ],
  ]);
}

function statusOf(schema: ObjectSchema, random: Random): JsonObject {
  const type = schema.fields.get('status')?.type;
  const status: JsonObject = {};
  if (type?.type !== 'object') return status;
  for (let fields = 1 + random.below(3); fields > 0; fields--) vary(type, status, random, 1);
  if (random.chance(0.15)) mutate(status, random);
  return status;
}

function addScale(draft: Draft, kind: Kind, path: string): void {
  const { random } = draft;
  const replicas = random.pick<Json>([0, 1, 3, -1, 2147483648, '2', null]);
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: SCENARIO, namespace: SCENARIO }, spec: { replicas } };
  draft.choose([
    [2, () => draft.add({ method: 'PUT', path: withQuery(path, writeQuery(kind, random)), body: scale })],
    [1, () => draft.add({ method: 'PUT', path, body: { ...scale, metadata: { name: 'other' } } })],
    [1, () => draft.add({ method: 'PATCH', path, body: { spec: { replicas } }, headers: { 'content-type': 'application/merge-patch+json' } })],
    [
      1,
      () =>
        draft.add({
          method: 'PATCH',
          path,
          body: [{ op: 'replace', path: '/spec/replicas', value: replicas }],
          headers: { 'content-type': 'application/json-patch+json' },
        }),
    ],
    [
      1,
      () =>
        draft.add({
          method: 'PATCH',
          path: `${path}?fieldManager=scaler&force=true`,
          body: scale,
          headers: { 'content-type': 'application/apply-patch+yaml' },
        }),
    ],
  ]);
}

/** Subresources that are posted to: bindings, evictions, tokens. */
function addAction(draft: Draft, kind: Kind, path: string, subresource: string): void {
  const { random } = draft;
  const bodies: Record<string, Json[]> = {
    binding: [
      { apiVersion: 'v1', kind: 'Binding', metadata: { name: SCENARIO }, target: { kind: 'Node', name: 'node-1' } },
      { metadata: { name: SCENARIO }, target: { kind: 'Pod', name: '' } },
      { metadata: { name: 'other', annotations: { a: 'b' }, labels: { c: 'd' } }, target: { name: 'node-2' } },
      {},
    ],
    eviction: [
      { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: SCENARIO } },
      { metadata: { name: SCENARIO }, deleteOptions: { gracePeriodSeconds: 3, preconditions: { uid: 'other' } } },
      { metadata: { name: 'other' }, deleteOptions: { dryRun: ['All'] } },
    ],
    token: [
      { spec: { audiences: ['a', 'b'], expirationSeconds: 3600 } },
      { spec: { expirationSeconds: 10 } },
      { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: SCENARIO } } },
      { spec: { boundObjectRef: { kind: 'Deployment', apiVersion: 'apps/v1', name: 'x' } } },
      { metadata: { name: 'other' }, spec: {} },
    ],
  };
  draft.add({ method: 'POST', path: withQuery(path, writeQuery(kind, random)), body: random.pick(bodies[subresource] ?? [{}]) });
}
