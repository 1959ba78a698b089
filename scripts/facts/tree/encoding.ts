import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EncodingFacts } from '../openapi.ts';
import { goSources } from './go-source.ts';
import { encodingOf, packageNameOf } from './struct-encoding.ts';

/** Packages of types outside of k8s.io/api that clients send or are sent. */
const OTHER_PACKAGES = [
  'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1',
  'k8s.io/apimachinery/pkg/apis/meta/v1',
  'k8s.io/apimachinery/pkg/apis/meta/v1beta1',
  'k8s.io/apimachinery/pkg/version',
  'k8s.io/kube-aggregator/pkg/apis/apiregistration/v1',
];

/** Of meta/v1: what other types inline or stand for, and tables, which have neither a schema nor a protobuf form. */
const NOT_ENCODED = /^io\.k8s\.apimachinery\.pkg\.apis\.meta\.v1\.(TypeMeta|Timestamp|Table|TableColumnDefinition|TableRow|TableRowCondition)$/;

/** Where the priorities of APIServices are told; the later file wins. */
const PRIORITY_FILES = ['pkg/controlplane/apiserver', 'cmd/kube-apiserver/app'];

/** `served`: the group-versions that discovery knows, `apps/v1` or `v1`. Those of other versions are told by the tree, but nothing uses them. */
export function encodingFacts(tree: string, served: ReadonlySet<string>): EncodingFacts {
  const packages = [...apiPackages(tree), ...OTHER_PACKAGES].toSorted((a, b) => (packageNameOf(a) < packageNameOf(b) ? -1 : 1));
  const types = packages.flatMap((importPath) => Object.entries(encodingOf(tree, importPath))).filter(([name]) => !NOT_ENCODED.test(name));
  const groups = packages.flatMap((importPath) => {
    const group = groupOf(tree, importPath);
    return group === undefined ? [] : [[packageNameOf(importPath), group] as const];
  });
  return {
    groups: Object.fromEntries(groups),
    priorities: prioritiesOf(tree, served),
    types: Object.fromEntries(types.toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** `k8s.io/api/<group>/<version>`, where a version declares types. */
function apiPackages(tree: string): string[] {
  const root = join(tree, 'staging/src/k8s.io/api');
  const folders = (path: string): string[] =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  return folders(root).flatMap((group) =>
    folders(join(root, group))
      .filter((version) => /^v\d+((alpha|beta)\d+)?$/.test(version))
      .map((version) => `k8s.io/api/${group}/${version}`),
  );
}

function groupOf(tree: string, importPath: string): string | undefined {
  const source = goSources(join(tree, 'staging/src', importPath)).join('\n');
  return /\bGroupName += "([^"]*)"/.exec(source)?.[1];
}

function prioritiesOf(tree: string, served: ReadonlySet<string>): Record<string, [number, number]> {
  const found = new Map<string, [number, number]>();
  for (const folder of PRIORITY_FILES) {
    const pattern = /\{Group: "([^"]*)", Version: "(\w+)"\}: +\{Group: (\d+), Version: (\d+)\}/g;
    for (const [, group, version, ofGroup, ofVersion] of goSources(join(tree, folder)).join('\n').matchAll(pattern)) {
      found.set(group === '' ? version! : `${group}/${version}`, [Number(ofGroup), Number(ofVersion)]);
    }
  }
  const kept = [...found].filter(([groupVersion]) => served.has(groupVersion));
  return Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
