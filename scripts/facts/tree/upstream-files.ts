import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UpstreamPaths } from '../upstream-paths.ts';
import { withoutComments } from './go-source.ts';

const HASH_LENGTH = 10;
/** Tests and generated code change without a change of behaviour, or together with what they are made from. */
const PASSED_OVER = /(_test\.go|\/zz_generated\.[^/]*|\.pb\.go|_swagger_doc_generated\.go|\/(testing|testdata|test|fuzzer)\/.*)$/;

/** Every source file under the paths that this project answers for, with a hash of its code: comments and white space do not count, markers do. */
export function upstreamFiles(tree: string, paths: UpstreamPaths): Record<string, string> {
  const files = foldersOf(paths).flatMap((folder) => sourcesUnder(tree, folder));
  return Object.fromEntries([...new Set(files)].toSorted().map((file) => [file, hashOf(readFileSync(join(tree, file), 'utf8'))]));
}

/** Folders that moved or went: what is said of them in facts/upstream-paths.json is to be mended. */
export const missingFolders = (tree: string, paths: UpstreamPaths): string[] => foldersOf(paths).filter((folder) => !existsSync(join(tree, folder)));

function foldersOf({ groups, kinds, parts }: UpstreamPaths): string[] {
  const named = [...Object.values(groups), ...Object.values(kinds)].flatMap(({ upstream }) => upstream);
  return [...new Set([...named, ...Object.values(parts).flat()])];
}

function sourcesUnder(tree: string, folder: string): string[] {
  const root = join(tree, folder);
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.go') && !PASSED_OVER.test(`/${path}`))
    .map((path) => `${folder}/${path}`);
}

/** `// +k8s:required`: comments that code is generated from. */
const MARKER = /^(\s*)\/\/( ?\+\S.*)$/gm;

const hashOf = (source: string): string =>
  createHash('sha256')
    .update(withoutComments(source.replaceAll(MARKER, '$1$2')).replaceAll(/\s+/g, ' '))
    .digest('hex')
    .slice(0, HASH_LENGTH);
