// node scripts/descriptions/record.mjs URL TOKEN: writes places.json and edits.json from the OpenAPI v2 document of a kube-apiserver that serves all versions
// (--runtime-config=api/all=true --feature-gates=AllAlpha=true,AllBeta=true). For those who move the project to another version of Kubernetes.
import { writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { editsFrom } from './edits.mjs';
import { hashOf, readTexts } from './sources.mjs';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
/** By action: the kind whose fields are query parameters. That of a connection is named by the operation. */
const OPTIONS = { get: 'GetOptions', list: 'ListOptions', post: 'CreateOptions', put: 'UpdateOptions', patch: 'PatchOptions' };

/** A resource of which all descriptions are upstream's own. */
const GROUP = 'descriptions.example.com';
const CUSTOM = 'com.example.descriptions.v1';
const EMBEDDING = {
  type: 'object',
  properties: { embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } } },
};
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `records.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'records', kind: 'Record' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: EMBEDDING } }],
  },
};

const [, , url, token] = process.argv;
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
const document = await fetchDocument();
/** Type → field → text; the type's own under ''. */
const described = {};
noteDefinitions(document.definitions);
for (const [path, { parameters: shared = [], ...operations }] of Object.entries(document.paths)) {
  for (const operation of Object.values(operations)) noteParameters(path, operation, [...shared, ...(operation.parameters ?? [])]);
}
write();

/** With a custom resource in it. */
async function fetchDocument() {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const created = await fetch(`${url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, { method: 'POST', headers, body: JSON.stringify(DEFINITION) });
  if (created.status !== 201 && created.status !== 409) throw new Error(await created.text());
  for (;;) {
    const whole = await (await fetch(`${url}/openapi/v2`, { headers })).json();
    if (whole.definitions[`${CUSTOM}.Record`]) return whole;
    await setTimeout(1000);
  }
}

function note(type, field, text) {
  if (text !== undefined) (described[type] ??= {})[field] = text;
}

function noteDefinitions({ [`${CUSTOM}.Record`]: record, [`${CUSTOM}.RecordList`]: list, ...types }) {
  for (const [type, { description, properties = {} }] of Object.entries(types)) {
    note(type, '', description);
    for (const [field, property] of Object.entries(properties)) note(type, field, property.description);
  }
  const { embedded, ...own } = record.properties;
  for (const [field, { description }] of Object.entries(own)) note(`${META}.PartialObjectMetadata`, field, description);
  note(`${META}.PartialObjectMetadataList`, 'metadata', list.properties.metadata.description);
  for (const field of ['apiVersion', 'kind']) note('embedded', field, embedded.properties[field].description);
}

function noteParameters(path, operation, parameters) {
  const options = optionsOf(path, operation);
  for (const { $ref, ...inline } of parameters) {
    const { name, in: place, description } = $ref ? document.parameters[$ref.slice('#/parameters/'.length)] : inline;
    if (name === 'pretty' || (place === 'path' && name !== 'name')) note('parameters', name, description);
    else if (place === 'query' && options !== undefined) note(options, name, description);
  }
}

function optionsOf(path, { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': kind }) {
  if (action === 'connect') return `io.k8s.api.core.v1.${kind.kind}`;
  if (path.endsWith('/log')) return 'io.k8s.api.core.v1.PodLogOptions';
  return OPTIONS[action] && `${META}.${OPTIONS[action]}`;
}

function write() {
  const hashes = Object.entries(described).map(([type, fields]) => [type, sorted(Object.entries(fields).map(([field, text]) => [field, hashOf(text)]))]);
  const wanted = new Map(Object.values(described).flatMap((fields) => Object.values(fields).map((text) => [hashOf(text), text])));
  const { edits, missing } = editsFrom(readTexts(), wanted);
  writeLines('places.json', sorted(hashes));
  writeLines('edits.json', sorted(Object.entries(edits)));
  console.log(`${wanted.size} texts, ${Object.keys(edits).length} of them edited; in no package:`);
  for (const text of missing) console.log(`  ${JSON.stringify(text).slice(0, 100)}`);
}

function sorted(entries) {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** One entry a line. */
function writeLines(name, object) {
  const lines = Object.entries(object).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  writeFileSync(new URL(name, import.meta.url), `{\n${lines.join(',\n')}\n}\n`);
}
