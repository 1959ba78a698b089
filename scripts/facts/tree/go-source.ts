import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A field of a struct as Go declares it. An embedded one has the type's name as its own. */
export interface GoField {
  readonly name: string;
  readonly type: string;
  readonly isEmbedded: boolean;
  /** By key: `json`, `protobuf`. */
  readonly tags: Readonly<Record<string, string>>;
}

/** What a package declares: its structs, and its other named types with what they stand for. */
export interface GoPackage {
  /** The name of its `package` clause. */
  readonly name: string;
  readonly structs: ReadonlyMap<string, readonly GoField[]>;
  readonly named: ReadonlyMap<string, string>;
  /** By file would be exact; upstream's packages name an import the same way in all their files. */
  readonly imports: ReadonlyMap<string, string>;
}

const TREE_ROOT = 'k8s.io/kubernetes/';
const packages = new Map<string, GoPackage>();

/** The folder of an import path in the public tree: staging holds what is published as a module of its own. */
export const folderOf = (importPath: string): string => (importPath.startsWith(TREE_ROOT) ? importPath.slice(TREE_ROOT.length) : `staging/src/${importPath}`);

/** The sources of a folder that are compiled into a server, without comments. Generated ones are left out, since they declare nothing of their own. */
export function goSources(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.go') && !/(_test|\.pb|^zz_generated.*)\.go$/.test(file));
  return files.toSorted().map((file) => withoutComments(readFileSync(join(folder, file), 'utf8')));
}

/** Reads a package once. */
export function readPackage(tree: string, importPath: string): GoPackage {
  const folder = join(tree, folderOf(importPath));
  let read = packages.get(folder);
  if (!read) packages.set(folder, (read = parsePackage(goSources(folder))));
  return read;
}

export function parsePackage(sources: readonly string[]): GoPackage {
  const structs = new Map<string, GoField[]>();
  const named = new Map<string, string>();
  const imports = new Map<string, string>();
  for (const source of sources) {
    for (const [, name, body] of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) structs.set(name!, parseFields(body!));
    for (const [, name] of source.matchAll(/^type (\w+) struct ?\{\s*\}/gm)) structs.set(name!, structs.get(name!) ?? []);
    for (const [, name, type] of source.matchAll(/^type (\w+) (?!struct\b|interface\b|func\b)(=? ?[^\s{]+(?: [^\s{]+)?)$/gm)) named.set(name!, type!.trim());
    for (const [, alias, path] of source.matchAll(/^(?:import )?\s*(\w+)? ?"([\w./-]+)"$/gm))
      imports.set(alias ?? path!.slice(path!.lastIndexOf('/') + 1), path!);
  }
  return { name: /^package (\w+)/m.exec(sources[0] ?? '')?.[1] ?? '', structs, named, imports };
}

function parseFields(body: string): GoField[] {
  return body.split('\n').flatMap((line): GoField[] => {
    const [, declaration, tagText = ''] = /^\s*([^`]*?)\s*(?:`([^`]*)`)?\s*$/.exec(line) ?? [];
    if (!declaration) return [];
    const tags = Object.fromEntries([...tagText.matchAll(/(\w+):"([^"]*)"/g)].map(([, key, value]) => [key!, value!]));
    const words = declaration.split(/\s+/);
    if (words.length === 1) return [{ name: words[0]!.slice(words[0]!.lastIndexOf('.') + 1).replace('*', ''), type: words[0]!, isEmbedded: true, tags }];
    return [{ name: words[0]!, type: words.slice(1).join(' '), isEmbedded: false, tags }];
  });
}

/** Strings and runes stay as they are: they may hold what looks like a comment. */
export const withoutComments = (source: string): string =>
  source.replaceAll(/"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)+'|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (token) => (token.startsWith('/') ? '' : token));
