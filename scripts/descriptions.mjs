// Writes dist/descriptions.json: what `kubectl explain` says of every type and field, read from the doc comments of @kubernetes/client-node's type
// declarations. None of these texts is in the repository; without the file, OpenAPI documents have no descriptions.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const MODELS = join(ROOT, 'node_modules/@kubernetes/client-node/dist/gen/models');

/** @param {string} outputPath */
export function writeDescriptions(outputPath) {
  const types = JSON.parse(readFileSync(join(ROOT, 'src/apis/facts/types.json'), 'utf8'));
  const descriptions = {};
  for (const name of Object.keys(types)) {
    const model = modelNamesOf(name).find((candidate) => existsSync(join(MODELS, `${candidate}.d.ts`)));
    if (model !== undefined) describe(model, name, descriptions);
  }
  mkdirSync(dirname(outputPath), { recursive: true });
  writeFileSync(outputPath, JSON.stringify(descriptions));
}

/** `io.k8s.api.core.v1.Event` → CoreV1Event, V1Event: the group comes first where two groups have the name. */
function modelNamesOf(name) {
  const [kind, version, group] = name.split('.').toReversed();
  if (version === 'version') return [`Version${kind}`];
  const base = titled(version) + kind;
  return [titled(group) + base, base];
}

const titled = (word) => word.charAt(0).toUpperCase() + word.slice(1);

/** Where a field is of such a type, the generator gives the type's description in place of the field's. */
const SCALARS = {
  IntOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  V1MicroTime: 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime',
};

/** Adds [of the type, by field] under the type's name. */
function describe(model, typeName, descriptions) {
  const declarations = readFileSync(join(MODELS, `${model}.d.ts`), 'utf8');
  const body = declarations.slice(declarations.indexOf('export declare class'));
  const head = /\/\*\*((?:(?!\/\*\*)[\s\S])*?)\*\/\s*export declare class/.exec(declarations)?.[1] ?? '';
  const attributes = attributesOf(readFileSync(join(MODELS, `${model}.js`), 'utf8'));
  const fields = {};
  for (const [, comment, name] of body.matchAll(/\/\*\*([\s\S]*?)\*\/\s*'([^']+)'\??:/g)) {
    const { jsonName, type } = attributes.get(name);
    if (type in SCALARS) descriptions[SCALARS[type]] = [textOf(comment), {}];
    else fields[jsonName] = textOf(comment);
  }
  descriptions[typeName] = [textOf(head), fields];
}

/** Property name → the API's name for it (`_continue` is `continue`) and its type. */
function attributesOf(code) {
  const entries = code.matchAll(/"name": "([^"]+)",\s*"baseName": "([^"]+)",\s*"type": "([^"]+)"/g);
  return new Map([...entries].map(([, name, jsonName, type]) => [name, { jsonName, type }]));
}

const ENTITIES = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&#x60;': '`', '&#x3D;': '=', '&amp;': '&' };

/** A comment's text as it was before the generator escaped it. */
function textOf(comment) {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\* ?/, ''));
  return lines
    .join('\n')
    .trim()
    .replace(/&(?:lt|gt|quot|amp|#39|#x60|#x3D);/g, (entity) => ENTITIES[entity])
    .replace(/\\(["'\\])/g, '$1')
    .replaceAll('*_/', '*/');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeDescriptions(process.argv[2] ?? join(ROOT, 'dist/descriptions.json'));
