import { expect, test } from 'vitest';
import { testTree } from './test-tree.ts';
import { missingFolders, upstreamFiles } from './upstream-files.ts';

const PATHS = {
  groups: { apps: { ours: 'src/apis/apps', upstream: ['pkg/apis/apps', 'pkg/apis/gone'] } },
  kinds: { 'apps/ships': { ours: 'src/apis/apps/ship.ts', upstream: ['pkg/registry/apps/ship'] } },
  parts: { 'src/server': ['pkg/apis/apps'] },
};

const treeWith = (strategy: string): string =>
  testTree({
    'pkg/apis/apps/types.go': 'package apps\n',
    'pkg/apis/apps/zz_generated.deepcopy.go': 'package apps\n',
    'pkg/apis/apps/v1/generated.pb.go': 'package v1\n',
    'pkg/apis/apps/fuzzer/fuzzer.go': 'package fuzzer\n',
    'pkg/registry/apps/ship/strategy.go': strategy,
    'pkg/registry/apps/ship/strategy_test.go': 'package ship\n',
    'pkg/other/other.go': 'package other\n',
  });

test('the sources that we answer for, by a hash that comments do not change but markers do', () => {
  const files = upstreamFiles(treeWith('package ship\n\nfunc a() {}\n'), PATHS);
  expect(Object.keys(files)).toEqual(['pkg/apis/apps/types.go', 'pkg/registry/apps/ship/strategy.go']);
  expect(upstreamFiles(treeWith('package ship\n// words\nfunc a() {}\n'), PATHS)).toEqual(files);
  expect(upstreamFiles(treeWith('package ship\n\nfunc b() {}\n'), PATHS)).not.toEqual(files);
  expect(upstreamFiles(treeWith('package ship\n// +k8s:required\nfunc a() {}\n'), PATHS)).not.toEqual(files);
});

test('folders that a tree no longer has', () => expect(missingFolders(treeWith('package ship\n'), PATHS)).toEqual(['pkg/apis/gone']));
