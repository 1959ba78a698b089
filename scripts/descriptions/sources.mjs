// The descriptions that packages of upstream's types carry in their doc comments, by hash. Each package has its own way of writing a text as a comment, and
// none has all texts as upstream publishes them; what is right is told by the hashes in places.json.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODULES = join(dirname(fileURLToPath(import.meta.url)), '../../node_modules');

/** The first ten hex digits of the SHA-256. */
export const hashOf = (text) => createHash('sha256').update(text).digest('hex').slice(0, 10);

const SOURCES = [
  // Of Kubernetes 1.36, all fields that do not refer to another type, in one line each.
  { path: '@kubernetes/client-node/dist/gen/models', read: unescapeHtml },
  // The same client's query parameters.
  { path: '@kubernetes/client-node/dist/gen/types/ObjectParamAPI.d.ts', read: (text) => unescapeHtml(text.replace(/\nDefaults to: [^]*/, '')) },
  // Of Kubernetes 1.36 without alpha and beta versions, with upstream's line breaks.
  { path: 'kubernetes-models', read: unescapeMarkdown },
  { path: '@kubernetes-models/apimachinery', read: unescapeMarkdown },
  // Of Kubernetes 1.30; has what the others replace by types of their own, such as Quantity.
  { path: 'kubernetes-types', read: (text) => text },
];

/** @returns {Map<string, string>} every text, by its hash */
export function readTexts() {
  const texts = new Map();
  for (const { path, read } of SOURCES) {
    for (const file of declarationsIn(join(MODULES, path))) {
      for (const [, comment] of readFileSync(file, 'utf8').matchAll(/\/\*\*([^]*?)\*\//g)) {
        const text = read(linesOf(comment)).trim();
        texts.set(hashOf(text), text);
      }
    }
  }
  return texts;
}

function declarationsIn(path) {
  if (path.endsWith('.d.ts')) return [path];
  const files = readdirSync(path, { recursive: true }).filter((file) => file.endsWith('.d.ts'));
  return files.toSorted().map((file) => join(path, file));
}

/** Without the asterisks before each line. */
const linesOf = (comment) =>
  comment
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .trim();

const ENTITIES = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&#x60;': '`', '&#x3D;': '=', '&amp;': '&' };

function unescapeHtml(text) {
  return text
    .replace(/&(?:lt|gt|quot|amp|#39|#x60|#x3D);/g, (entity) => ENTITIES[entity])
    .replace(/\\(["'\\])/g, '$1')
    .replaceAll('*_/', '*/');
}

function unescapeMarkdown(text) {
  return text.replace(/\\([\\`*_{}[\]()#+\-.!<>@/])/g, '$1');
}
