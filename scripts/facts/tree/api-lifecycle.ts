import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { goSources } from './go-source.ts';

/** When a kind of a group-version came and goes; upstream knows it of versions that are not there for ever. */
export interface KindLifecycle {
  /** `1.34` */
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
}

/** Whose types tell their lifecycle (`+k8s:prerelease-lifecycle-gen`). */
const ROOTS = ['staging/src/k8s.io/api', 'staging/src/k8s.io/apiextensions-apiserver/pkg/apis', 'staging/src/k8s.io/kube-aggregator/pkg/apis'];
const GENERATED = 'zz_generated.prerelease-lifecycle.go';
const METHOD = /^func \(in \*(\w+)\) APILifecycle(Introduced|Deprecated|Removed)\(\)[^{]*\{\s*return (\d+), (\d+)/gm;

/** `resource.k8s.io/v1 ResourceClaim` → its lifecycle. Lists are as their items, and left out. */
export function apiLifecycle(tree: string): Record<string, KindLifecycle> {
  const found: Record<string, KindLifecycle> = {};
  for (const folder of ROOTS.flatMap((root) => packageFolders(join(tree, root)))) {
    const file = join(folder, GENERATED);
    if (!existsSync(file)) continue;
    const group = /\bGroupName\s+=\s+"([\w.-]*)"/.exec(goSources(folder).join('\n'))?.[1] ?? parentGroup(folder);
    const version = folder.slice(folder.lastIndexOf('/') + 1);
    for (const [, kind, what, major, minor] of readFileSync(file, 'utf8').matchAll(METHOD)) {
      if (kind!.endsWith('List')) continue;
      const key = `${group === '' ? '' : `${group}/`}${version} ${kind!}`;
      found[key] = { ...found[key], [what!.toLowerCase()]: `${major}.${minor}` };
    }
  }
  return Object.fromEntries(Object.entries(found).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** `api/apps/v1` and the like. */
function packageFolders(root: string): string[] {
  if (!existsSync(root)) return [];
  const folders = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name));
  return folders(root).flatMap(folders).toSorted();
}

/** Packages that take their group's name from the internal one beside them. */
function parentGroup(folder: string): string {
  const name = /\bGroupName\s+=\s+"([\w.-]*)"/.exec(goSources(join(folder, '..')).join('\n'))?.[1];
  if (name === undefined) throw new Error(`${folder} does not tell its group`);
  return name;
}
