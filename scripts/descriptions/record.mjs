// node scripts/descriptions/record.mjs URL TOKEN: writes places.json and edits.json from the OpenAPI v2 document of a kube-apiserver that serves all versions
// (--runtime-config=api/all=true --feature-gates=AllAlpha=true,AllBeta=true). For those who move the project to another version of Kubernetes.
import { writeFileSync } from 'node:fs';
import { hashOf, readTexts } from './sources.mjs';
import { editsFrom } from './edits.mjs';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
/** By action: the kinds whose fields are query parameters. Those of a connection are named by the operation. */
const OPTIONS = {
  list: 'ListOptions',
  post: 'CreateOptions',
  put: 'UpdateOptions',
  patch: 'PatchOptions',
};

const [, , url, token] = process.argv;
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
const document = await (await fetch(`${url}/openapi/v2`, { headers: { authorization: `Bearer ${token}` } })).json();

/** Type → field → text; the type's own under ''. */
const described = {};
const note = (type, field, text) => text !== undefined && ((described[type] ??= {})[field] = text);

for (const [type, { description, properties = {} }] of Object.entries(document.definitions)) {
  note(type, '', description);
  for (const [field, property] of Object.entries(properties)) note(type, field, property.description);
}
for (const [path, { parameters: shared = [], ...operations }] of Object.entries(document.paths)) {
  for (const operation of Object.values(operations)) noteParameters(path, operation, [...shared, ...(operation.parameters ?? [])]);
}
// Custom resources have these of every kind's.
const { apiVersion, kind, metadata } = described['io.k8s.api.core.v1.ConfigMap'];
described[`${META}.PartialObjectMetadata`] = { apiVersion, kind, metadata };

function noteParameters(path, operation, references) {
  const options = optionsOf(path, operation);
  for (const { $ref, ...inline } of references) {
    const { name, in: place, description } = $ref ? document.parameters[$ref.slice('#/parameters/'.length)] : inline;
    const isOwn = place === 'query' && name !== 'pretty';
    if (place === 'path' ? name !== 'name' : name === 'pretty') note('parameters', name, description);
    else if (isOwn && options) note(options, name, description);
  }
}

function optionsOf(path, { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': kind }) {
  if (action === 'connect') return `io.k8s.api.core.v1.${kind.kind}`;
  if (path.endsWith('/log')) return 'io.k8s.api.core.v1.PodLogOptions';
  return OPTIONS[action] && `${META}.${OPTIONS[action]}`;
}

const sorted = (object) => Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)));
const places = sorted(described);
for (const [type, fields] of Object.entries(places)) places[type] = sorted(Object.fromEntries(Object.entries(fields).map(([field, text]) => [field, hashOf(text)])));
const wanted = new Map(Object.values(described).flatMap((fields) => Object.values(fields).map((text) => [hashOf(text), text])));
const { edits, missing } = editsFrom(readTexts(), wanted);
const lines = (object) => `{\n${Object.entries(object).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(',\n')}\n}\n`;
writeFileSync(new URL('places.json', import.meta.url), lines(places));
writeFileSync(new URL('edits.json', import.meta.url), lines(sorted(edits)));
console.log(`${wanted.size} texts, ${Object.keys(edits).length} of them edited; in no package:`);
for (const text of missing) console.log(`  ${JSON.stringify(text).slice(0, 100)}`);
