import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';
import { HOOK_CA } from '../hook-authority.ts';

/* What can be wrong with a definition, one thing each; most are refused, and some pass. */

type Fault = (spec: JsonObject, random: Random) => void;

const at = (value: JsonObject, ...path: string[]): JsonObject => path.reduce((inner, key) => (inner[key] ??= {}) as JsonObject, value);
const versionsOf = (spec: JsonObject): JsonObject[] => spec['versions'] as JsonObject[];
const one = (spec: JsonObject, random: Random): JsonObject => random.pick(versionsOf(spec));
const rootOf = (version: JsonObject): JsonObject => at(version, 'schema', 'openAPIV3Schema');
const fieldsOf = (version: JsonObject): JsonObject => at(rootOf(version), 'properties', 'spec', 'properties');

/** Gives one version, or all of them alike, a field of this schema. */
const field =
  (...schemas: JsonObject[]): Fault =>
  (spec, random) => {
    const schema = random.pick(schemas);
    const all = random.chance(0.5) ? versionsOf(spec) : [one(spec, random)];
    for (const version of all) fieldsOf(version)['wrong'] = structuredClone(schema);
  };
const root =
  (...changes: JsonObject[]): Fault =>
  (spec, random) =>
    void Object.assign(rootOf(one(spec, random)), random.pick(changes));
const version =
  (...changes: JsonObject[]): Fault =>
  (spec, random) =>
    void Object.assign(one(spec, random), random.pick(changes));
const names =
  (...changes: JsonObject[]): Fault =>
  (spec, random) =>
    void Object.assign(spec['names'] as JsonObject, random.pick(changes));

const webhook = (change: JsonObject): JsonObject => ({ strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], ...change } });
const url = (text: string): JsonObject => webhook({ clientConfig: { url: text, caBundle: HOOK_CA } });
const service = { namespace: 'default', name: 'converter' };
const conversion =
  (...values: Json[]): Fault =>
  (spec, random) =>
    void (spec['conversion'] = random.pick(values));

const text = { type: 'string' };
const list = (items: Json, more: JsonObject = {}): JsonObject => ({ type: 'array', items, ...more });
const rule = (type: string, ...rules: JsonObject[]): JsonObject => ({ type, 'x-kubernetes-validations': rules });

const FAULTS: readonly Fault[] = [
  names({ plural: 'Things' }, { plural: 'other' }, { plural: '' }, { singular: 'Thing!' }, { kind: 'thing thing' }, { kind: '' }, { listKind: 'Thing' }),
  names({ shortNames: ['A'] }, { shortNames: ['ok', ''] }, { categories: ['not ok'] }, { listKind: 'x'.repeat(64) }, { kind: '1Thing' }),
  (spec, random) => void (spec['group'] = random.pick(['', 'nodots', 'Upper.example.com', 'a.k8s.io', 'x.kubernetes.io', '-a.example.com'])),
  (spec, random) => void (spec['scope'] = random.pick(['', 'namespaced', 'Everywhere'])),
  version({ name: 'V1' }, { name: '' }, { name: '1v' }, { name: 'v'.repeat(64) }, { storage: true }, { storage: false }, { served: false }),
  (spec) => void versionsOf(spec).push(structuredClone(versionsOf(spec)[0]!)),
  (spec, random) => void (spec['versions'] = random.pick<Json>([[], null, 'v1', [{}]])),
  (spec, random) => void delete one(spec, random)['schema'],
  (spec, random) => void (one(spec, random)['schema'] = {}),
  version({ deprecationWarning: 'gone' }, { deprecated: true, deprecationWarning: '' }, { deprecated: true, deprecationWarning: 'a\u0007b' }),
  version({ deprecated: true, deprecationWarning: 'x'.repeat(257) }, { deprecated: true, deprecationWarning: 'ünicode “ok”' }),
  version(
    { additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: '.spec.host' }] },
    { additionalPrinterColumns: [{ name: '', type: '', jsonPath: '' }] },
    { additionalPrinterColumns: [{ name: 'A', type: 'string', format: 'int', jsonPath: 'spec.host' }] },
    { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.host', priority: -1 }] },
    { additionalPrinterColumns: [{ name: 'A', type: 'date', format: 'date-time', jsonPath: '.spec[' }] },
  ),
  version(
    { subresources: { scale: { specReplicasPath: '', statusReplicasPath: '' } } },
    { subresources: { scale: { specReplicasPath: 'spec.replicas', statusReplicasPath: '.spec.replicas' } } },
    { subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.metadata.labels' } } },
    { subresources: { scale: { specReplicasPath: '.spec.list[0]', statusReplicasPath: '.status.replicas' } } },
    { subresources: {} },
  ),
  version(
    { selectableFields: [{ jsonPath: 'spec.host' }] },
    { selectableFields: [{ jsonPath: '' }] },
    { selectableFields: [{ jsonPath: '.spec.host' }, { jsonPath: '.spec.host' }] },
    { selectableFields: [{ jsonPath: '.metadata.name' }, { jsonPath: '.spec' }, { jsonPath: '.spec.nothing' }] },
    { selectableFields: Array.from({ length: 9 }, (_, index) => ({ jsonPath: `.spec.f${index}` })) },
    { selectableFields: [{ jsonPath: '.spec.list[0]' }, { jsonPath: ".spec['host']" }] },
  ),
  root(
    { type: 'string' },
    { nullable: true },
    { type: 'array' },
    { 'x-kubernetes-embedded-resource': true },
    { 'x-kubernetes-preserve-unknown-fields': false },
  ),
  root({ additionalProperties: true }, { oneOf: [{ required: ['spec'] }] }, { default: {} }, { enum: [{}] }, { maxProperties: 3 }, { $ref: '#/a' }),
  root({ required: ['spec', 'spec', ''] }, { title: 'T', description: 'D' }, { example: { b: 1, a: 2 } }, { externalDocs: { url: 'u' } }, { id: 'x' }),
  (spec, random) =>
    void Object.assign(at(rootOf(one(spec, random)), 'properties'), {
      metadata: random.pick<Json>([
        { type: 'string' },
        { type: 'object', properties: { name: { type: 'string', pattern: '^a' } } },
        { type: 'object', properties: { labels: { type: 'object', additionalProperties: { type: 'string' } } } },
        { type: 'object', properties: { name: { type: 'string', default: 'x' } } },
        { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        {},
      ]),
    }),
  field({}, { type: 'null' }, { type: 'text' }, { type: '' }, { properties: { a: text } }, { type: 'object', properties: { a: {} } }),
  field({ type: 'object', additionalProperties: false }, { type: 'object', additionalProperties: text, properties: { a: text } }),
  field({ type: 'object', additionalProperties: true }, { type: 'object', additionalProperties: {} }, { type: 'object', patternProperties: { a: text } }),
  field(list(undefined as unknown as Json), list([text]), list({}), list(text, { uniqueItems: true }), { type: 'array' }),
  field(
    list(text, { 'x-kubernetes-list-type': 'map' }),
    list({ type: 'object' }, { 'x-kubernetes-list-type': 'set' }),
    list(text, { 'x-kubernetes-list-type': 'bag' }),
  ),
  field(
    list({ type: 'object', properties: { a: text } }, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] }),
    list({ type: 'object', properties: { a: text }, required: ['a'] }, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a', 'a', 'b'] }),
    list({ type: 'object', properties: { a: list(text) }, required: ['a'] }, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] }),
    list(
      { type: 'object', nullable: true, properties: { a: { ...text, nullable: true } }, required: ['a'] },
      { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
    ),
    list(text, { 'x-kubernetes-list-map-keys': ['a'] }),
    list({ ...text, nullable: true }, { 'x-kubernetes-list-type': 'set' }),
    list(list(text), { 'x-kubernetes-list-type': 'set' }),
    list(list(text, { 'x-kubernetes-list-type': 'set' }), { 'x-kubernetes-list-type': 'set' }),
  ),
  field(
    { type: 'string', 'x-kubernetes-map-type': 'atomic' },
    { type: 'object', 'x-kubernetes-map-type': 'round' },
    { type: 'string', 'x-kubernetes-list-type': 'set' },
  ),
  field(
    { type: 'string', 'x-kubernetes-int-or-string': true },
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    { 'x-kubernetes-int-or-string': true, allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'x' }] },
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'string' }, { type: 'integer' }] },
    { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true },
  ),
  field(
    { type: 'object', 'x-kubernetes-embedded-resource': true },
    { type: 'string', 'x-kubernetes-embedded-resource': true },
    { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { kind: { type: 'integer' }, spec: { type: 'object' } } },
    { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true, default: { kind: 'a', apiVersion: 'v1' } },
    { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true, default: { metadata: { name: '!' } } },
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
  ),
  field(
    { anyOf: [{ type: 'string' }, { type: 'integer' }] },
    { type: 'object', properties: { a: text }, anyOf: [{ properties: { b: text } }] },
    { type: 'object', allOf: [{ description: 'no' }, { default: 1 }, { nullable: true }, { 'x-kubernetes-preserve-unknown-fields': true }] },
    { type: 'object', not: { type: 'object', additionalProperties: text } },
    { type: 'string', oneOf: [{ pattern: '(' }, { enum: ['a'] }] },
  ),
  field({ type: 'string', pattern: '(' }, { type: 'string', pattern: '(?!a)' }, { type: 'string', format: 'strange' }, { type: 'integer', format: 'int128' }),
  field(
    { type: 'string', maxLength: -1 },
    { type: 'integer', multipleOf: 0 },
    { type: 'integer', maximum: 1e21, default: 1 },
    { type: 'number', minimum: 2, default: 1 },
  ),
  field({ type: 'string', default: 1 }, { type: 'integer', default: 1.5 }, { type: 'boolean', default: 'true' }, { type: 'object', default: { b: 1, a: 2 } }),
  field(
    { type: 'string', nullable: true, default: null },
    { type: 'string', default: null },
    { type: 'string', enum: ['a', 'a'], default: 'b' },
    { type: 'string', enum: [] },
  ),
  field(list(text, { default: [1, 'a', null] }), { type: 'object', properties: { a: { ...text, default: 'x' } }, required: ['a'], default: { c: 1 } }),
  field(
    rule('string', { rule: '' }),
    rule('string', { rule: 'self' }),
    rule('string', { rule: 'self == "a"', message: ' ' }),
    rule('string', { rule: 'self ==\n"a"' }),
    rule('string', { rule: 'true', messageExpression: '1' }),
    rule('string', { rule: 'true', reason: 'Nope', fieldPath: '.x' }),
    rule('string', { rule: 'true', optionalOldSelf: true }),
    rule('string', { rule: 'oldSelf.hasValue() || self != ""', optionalOldSelf: true }),
    rule('string', { rule: 'oldSelf.nothing' }),
    rule('object', { rule: 'self.a == 1' }),
    { ...rule('object', { rule: 'self.a.b.c', fieldPath: '.a.b' }), properties: { a: { type: 'object', properties: { b: { type: 'boolean' } } } } },
  ),
  field(
    list(rule('string', { rule: 'oldSelf == self' })),
    list(rule('string', { rule: 'self.matches("^a*$")' })),
    list(rule('object', { rule: 'self.size() < 3' })),
  ),
  conversion(
    {},
    { strategy: 'Maybe' },
    { strategy: 'Webhook' },
    { strategy: 'None', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://a.example.com' } } },
    webhook({}),
    webhook({ clientConfig: {} }),
    webhook({ clientConfig: { url: 'https://a.example.com', service } }),
    webhook({ clientConfig: { service: { ...service, path: 'no', port: 0 } } }),
    webhook({ clientConfig: { service: { namespace: '', name: '' } } }),
    webhook({ clientConfig: { service: { ...service, path: '/a//b/', port: 70_000 } } }),
    webhook({ clientConfig: { service }, conversionReviewVersions: [] }),
    webhook({ clientConfig: { service }, conversionReviewVersions: ['v2'] }),
    webhook({ clientConfig: { service }, conversionReviewVersions: ['v1', 'v1', 'V1'] }),
    webhook({ clientConfig: { url: 'https://a.example.com', caBundle: 'bm90IGEgY2VydA==' } }),
    url('http://a.example.com'),
    url('https://user@a.example.com/x?y#z'),
    url('not a url'),
    url('https://'),
  ),
  (spec) => void (spec['preserveUnknownFields'] = true),
];

/** Makes one thing or two wrong with a definition. */
export function addFault(definition: JsonObject, random: Random): void {
  const spec = definition['spec'] as JsonObject;
  for (let count = 1 + random.below(2); count > 0; count--) {
    try {
      random.pick(FAULTS)(spec, random);
    } catch {
      // The fault before has left nothing for this one.
    }
  }
  if (random.chance(0.2))
    (definition['metadata'] as JsonObject)['annotations'] = { 'api-approved.kubernetes.io': random.pick(['', 'unapproved, why', 'https://x', 'no']) };
}
