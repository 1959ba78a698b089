import { setKey } from '../../src/encoding/json.ts';
import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';
import { vary } from '../../test/kinds/variation.ts';
import { mutate } from '../../test/kinds/mutation.ts';
import { mutate as mutateBytes } from '../../fuzz/mutate.ts';
import { stringifyJson } from '../../src/encoding/json.ts';
import type { Edit, Form } from '../step.ts';
import { type Draft, maybe, metadataOf, withQuery } from './draft.ts';
import { type Kind, brokenObject, editsBetween, isDryRunOnly, makeSafe, validObject, variedObject } from './kinds.ts';
import { writeAccept } from './media-types.ts';

const MANAGERS = ['first', 'second', 'kubectl-client-side-apply', 'kubectl', 'x'.repeat(129), ''];

/** Parameters that every write takes. */
export function writeQuery(kind: Kind, random: Random): Record<string, string | undefined> {
  return {
    dryRun: isDryRunOnly(kind) ? 'All' : maybe(random, 0.12, random.pick(['All', 'All', 'Some', ''])),
    fieldManager: maybe(random, 0.4, random.pick(MANAGERS)),
    fieldValidation: maybe(random, 0.5, random.pick(['Strict', 'Strict', 'Warn', 'Ignore', 'Never'])),
    pretty: maybe(random, 0.05, random.pick(['true', '1', 'false'])),
  };
}

/** An object as a new one: valid, varied or broken. */
export function addCreate(draft: Draft, kind: Kind, name: string, isValid = false): void {
  const { random } = draft;
  const make = isValid ? validObject : random.pick([validObject, variedObject, variedObject, brokenObject]);
  const body = make(kind, random, name);
  if (!isValid && random.chance(0.05)) Object.assign(metadataOf(body) ?? {}, { name: undefined, generateName: `${name}-` });
  if (!isValid && random.chance(0.1)) varyMetadata(body, random);
  const form = random.pick<Form>(['json', 'json', 'json', 'json', 'yaml', 'protobuf']);
  const path = withQuery(kind.collection, isValid && !isDryRunOnly(kind) ? {} : writeQuery(kind, random));
  if (!isValid && random.chance(0.04))
    draft.add({ method: 'POST', path, form: 'raw', body: mutateBytes(random, Buffer.from(stringifyJson(body))).toString('utf8') });
  else draft.add({ method: 'POST', path, body, form, ...writeAccept(random) });
}

const METADATA: readonly JsonObject[] = [
  { labels: { a: 'b', 'example.com/c': 'D_1.x' } },
  { labels: { 'not a label': 'x', ok: 'not a value!' } },
  { annotations: { note: 'x', 'example.com/y': '{}' } },
  { annotations: { 'bad key': 'x' } },
  { finalizers: ['example.com/hold'] },
  { finalizers: ['orphan', 'notqualified'] },
  { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '11111111-1111-4111-8111-111111111111' }] },
  { ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] },
  { resourceVersion: '7' },
  { uid: '11111111-1111-4111-8111-111111111111' },
  { generation: 7, creationTimestamp: '2020-01-01T00:00:00Z' },
  { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 },
  { managedFields: [] },
  { managedFields: [{ manager: 'm', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }] },
  { managedFields: [{ manager: 'm', operation: 'Nothing', fieldsType: 'FieldsV9' }] },
  { selfLink: '/x' },
  { namespace: 'other' },
];

function varyMetadata(object: JsonObject, random: Random): void {
  const metadata = metadataOf(object);
  if (typeof metadata === 'object' && metadata !== null) Object.assign(metadata, structuredClone(random.pick(METADATA)));
}

/** Changes of an object of the kind, as they could be made to what is stored. */
function changes(kind: Kind, random: Random): Edit[] {
  const object = validObject(kind, random, 'unused');
  const changed = structuredClone(object);
  if (random.chance(0.25)) varyMetadata(changed, random);
  else for (let count = 1 + random.below(2); count > 0; count--) vary(kind.schema, changed, random);
  if (random.chance(0.2)) mutate(changed, random);
  const edits = editsBetween(object, makeSafe(kind, changed)).filter(
    ({ at }) => at[0] !== 'kind' && at[0] !== 'apiVersion' && at.join('.') !== 'metadata.name',
  );
  return random.chance(0.1) ? [...edits, { at: [random.pick(['data', 'spec', 'metadata', 'status'])] }] : edits;
}

/** What is stored, read, changed and put back. */
export function addUpdate(draft: Draft, kind: Kind, name: string): void {
  const { random } = draft;
  const of = `${kind.collection}/${name}`;
  const edits = changes(kind, random);
  if (random.chance(0.25)) edits.push({ at: ['metadata', 'resourceVersion'] });
  if (random.chance(0.05)) edits.push({ at: ['metadata', 'resourceVersion'], value: '1' });
  if (random.chance(0.05)) edits.push({ at: ['metadata', 'managedFields'] });
  const body = random.chance(0.3) ? brokenObject(kind, random, name) : variedObject(kind, random, name);
  const form = random.pick<Form>(['json', 'json', 'json', 'yaml', 'protobuf']);
  const path = withQuery(of, writeQuery(kind, random));
  draft.add({ method: 'PUT', path, body, form, ...(random.chance(0.85) && { update: { of, edits } }), ...writeAccept(random) });
}

/** A merge patch or strategic merge patch that makes the changes. */
export function mergePatch(edits: readonly Edit[]): JsonObject {
  const patch: JsonObject = {};
  for (const { at, value } of edits) {
    let holder = patch;
    for (const key of at.slice(0, -1)) {
      if (typeof holder[String(key)] !== 'object' || holder[String(key)] === null || Array.isArray(holder[String(key)])) setKey(holder, String(key), {});
      holder = holder[String(key)] as JsonObject;
    }
    setKey(holder, String(at.at(-1)!), value === undefined ? null : structuredClone(value));
  }
  return patch;
}

export const pointerOf = (at: readonly (string | number)[]): string => at.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** A JSON patch that makes the changes, and some that it might not. */
export function jsonPatch(edits: readonly Edit[], random: Random): Json[] {
  const operations = edits.map(({ at, value }): JsonObject => {
    const path = pointerOf(at);
    return value === undefined ? { op: 'remove', path } : { op: random.pick(['add', 'add', 'replace']), path, value };
  });
  if (!random.chance(0.3)) return operations;
  const odd: JsonObject[] = [
    { op: 'test', path: '/metadata/labels', value: null },
    { op: 'test', path: '/kind', value: 'Nothing' },
    { op: 'copy', from: '/metadata/name', path: '/metadata/annotations' },
    { op: 'move', from: '/metadata/labels', path: '/metadata/annotations' },
    { op: 'add', path: '/spec/-', value: 1 },
    { op: 'add', path: 'nothing', value: 1 },
    { op: 'frobnicate', path: '/a' },
    { op: 'add', path: '/metadata/labels/a~1b', value: 'c' },
    { op: 'remove', path: '/metadata/uid' },
    { op: 'replace', path: '/metadata/resourceVersion', value: '1' },
    { op: 'replace', path: '', value: {} },
    { path: '/a', value: 1 },
    { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/x' },
  ];
  return [...operations, random.pick(odd)];
}

const PATCH_TYPES = ['application/merge-patch+json', 'application/strategic-merge-patch+json', 'application/json-patch+json'];

/** A patch in any of its forms, now and then with directives or not a patch at all. */
export function addPatch(draft: Draft, kind: Kind, name: string, subresource = ''): void {
  const { random } = draft;
  const type = random.chance(0.03) ? random.pick(['application/json', 'text/plain', 'application/merge-patch+json; charset=utf-8']) : random.pick(PATCH_TYPES);
  const edits = changes(kind, random);
  if (random.chance(0.05)) edits.push({ at: ['metadata', 'resourceVersion'], value: random.chance(0.5) ? `«rv:${kind.collection}/${name}»` : '1' });
  const isJsonPatch = type === PATCH_TYPES[2];
  const patch = isJsonPatch ? jsonPatch(edits, random) : mergePatch(edits);
  if (!isJsonPatch && random.chance(0.1)) Object.assign(patch, random.pick(DIRECTIVES));
  const query = { ...writeQuery(kind, random), ...(isJsonPatch && isDangerous(kind) && { dryRun: 'All' }), force: maybe(random, 0.03, 'true') };
  const path = withQuery(`${kind.collection}/${name}${subresource}`, query);
  draft.add({
    method: 'PATCH',
    path,
    body: random.chance(0.03) ? random.pick<Json>([[], 'text', null, 1, [{}]]) : patch,
    headers: { 'content-type': type, ...writeAccept(random).headers },
  });
}

/** What a patch of single places could make act on other scenarios. */
const isDangerous = ({ name }: Kind): boolean => /admissionregistration|priorityclasses|storageclasses|ingressclasses/.test(name);

const DIRECTIVES: readonly JsonObject[] = [
  { $patch: 'delete' },
  { $patch: 'replace' },
  { $patch: 'what' },
  { $retainKeys: ['metadata'] },
  { metadata: { $patch: 'replace', labels: { only: 'this' } } },
  { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/hold'] } },
  { metadata: { '$setElementOrder/finalizers': ['b', 'a'], finalizers: ['example.com/a'] } },
  { spec: { $patch: 'delete' } },
  { spec: { $retainKeys: ['replicas'] } },
  { spec: { template: { spec: { containers: [{ $patch: 'delete', name: 'a' }] } } } },
  { spec: { containers: [{ $patch: 'replace' }, { name: 'new', image: 'x' }] } },
  { spec: { '$setElementOrder/containers': [{ name: 'x' }] } },
  { data: { $patch: 'replace', a: 'b' } },
];

/** Server-side apply of a part of an object, by one of several managers. */
export function addApply(draft: Draft, kind: Kind, name: string): void {
  const { random } = draft;
  const object = random.chance(0.15)
    ? brokenObject(kind, random, name)
    : random.chance(0.6)
      ? variedObject(kind, random, name)
      : validObject(kind, random, name);
  for (const key of Object.keys(object)) if (!['kind', 'apiVersion', 'metadata'].includes(key) && random.chance(0.15)) delete object[key];
  if (random.chance(0.2)) varyMetadata(object, random);
  const query = {
    ...writeQuery(kind, random),
    fieldManager: random.pick(['first', 'second', 'third', ...(random.chance(0.05) ? ['', 'a b'] : [])]),
    force: maybe(random, 0.35, random.pick(['true', 'true', 'false'])),
  };
  const form = random.chance(0.2) ? 'yaml' : 'json';
  const path = withQuery(`${kind.collection}/${name}`, query);
  draft.add({ method: 'PATCH', path, body: object, form, headers: { 'content-type': 'application/apply-patch+yaml', ...writeAccept(random).headers } });
}
