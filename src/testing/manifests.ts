import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { KubernetesObject, ManifestSource } from './objects.ts';

const GLOB = /[*?{]/;
const MANIFEST_FILE = /\.(ya?ml|json)$/;
/** A folder that a glob begins in may lie anywhere: what is read of it is bounded. */
const MAX_GLOB_ENTRIES = 100_000;

/** All objects of the sources, in order; those of a List one by one. */
export async function readManifests(source: ManifestSource): Promise<KubernetesObject[]> {
  const sources = Array.isArray(source) ? (source as readonly (string | KubernetesObject)[]) : [source as string | KubernetesObject];
  const read = await Promise.all(
    sources.map(async (one) => (typeof one === 'string' ? Promise.all(manifestFiles(one).map(readManifest)) : [listedObjects(one)])),
  );
  return read.flat(2);
}

/** The files of a folder, file or glob. */
export function manifestFiles(path: string): string[] {
  if (GLOB.test(path)) return filesMatching(path);
  const full = resolve(path);
  const stats = statSync(full, { throwIfNoEntry: false });
  if (!stats) throw new Error(`there is no file or folder ${full}`);
  if (!stats.isDirectory()) return [full];
  return readdirSync(full)
    .filter((name) => MANIFEST_FILE.test(name))
    .sort()
    .map((name) => join(full, name));
}

/** Where files come and go that a folder, file or glob means; with all folders below it, or alone. */
export function watchedFolders(path: string): { folder: string; isDeep: boolean } {
  if (GLOB.test(path)) return { folder: rootOf(patternOf(path)), isDeep: true };
  const full = resolve(path);
  return { folder: statSync(full).isDirectory() ? full : dirname(full), isDeep: false };
}

const patternOf = (glob: string): string => resolve(glob).replaceAll('\\', '/');
const rootOf = (pattern: string): string => pattern.slice(0, pattern.slice(0, pattern.search(GLOB)).lastIndexOf('/') + 1);

function filesMatching(glob: string): string[] {
  const pattern = patternOf(glob);
  const root = rootOf(pattern);
  const matches = globRegExp(pattern);
  const found: string[] = [];
  const folders = [root];
  let seen = 0;
  for (const folder of folders) {
    for (const entry of statSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder, { withFileTypes: true }) : []) {
      if (++seen > MAX_GLOB_ENTRIES) throw new Error(`${glob}: more than ${MAX_GLOB_ENTRIES} files below ${root}`);
      if (entry.isDirectory() && entry.name !== 'node_modules') folders.push(`${folder}${entry.name}/`);
      else if (matches.test(folder + entry.name)) found.push(folder + entry.name);
    }
  }
  if (found.length === 0) throw new Error(`no file matches ${glob}`);
  return found.sort();
}

/** `**` any folders, `*` and `?` within a name, `{a,b}` one of several. */
function globRegExp(glob: string): RegExp {
  const translated = glob.replace(/\*\*\/|\*\*|\*|\?|\{[^{}]*\}|[.+^$()|[\]\\]/g, (token) => {
    if (token === '**/') return '(?:[^/]+/)*';
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    if (token.startsWith('{'))
      return `(?:${token
        .slice(1, -1)
        .split(',')
        .map((word) => word.replace(/[.+^$()|[\]\\*?]/g, '\\$&'))
        .join('|')})`;
    return `\\${token}`;
  });
  return new RegExp(`^${translated}$`);
}

async function readManifest(file: string): Promise<KubernetesObject[]> {
  const { parseYaml } = await import('../encoding/yaml.ts');
  try {
    const documents = readFileSync(file, 'utf8').split(/^---.*$/m);
    return documents.map((text) => parseYaml(text)).flatMap((value) => (value === null ? [] : listedObjects(value)));
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

function listedObjects(value: unknown): KubernetesObject[] {
  const object = value as KubernetesObject;
  if (typeof value !== 'object' || value === null || typeof object.kind !== 'string' || typeof object.apiVersion !== 'string') {
    throw new Error('this is no object of Kubernetes: it has no apiVersion and kind');
  }
  const { items } = object as { items?: unknown };
  return object.kind.endsWith('List') && Array.isArray(items) ? items.flatMap(listedObjects) : [object];
}
