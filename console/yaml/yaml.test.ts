import { describe, expect, test } from 'vitest';
import type { ApiObject } from '../api/objects.ts';
import { diffLines, hunksOf } from './line-diff.ts';
import { changesBetween, mergeThreeWay } from './merge.ts';
import { fieldPathText, linePaths, objectText, parseObject } from './object-text.ts';
import { ownersAt, ownersOf } from './ownership.ts';

const DEPLOYMENT: ApiObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    labels: { app: 'web' },
    finalizers: ['example.com/a'],
    managedFields: [
      {
        manager: 'kubectl-apply',
        operation: 'Apply',
        time: '2026-11-18T09:00:00Z',
        fieldsV1: {
          'f:metadata': { 'f:labels': { 'f:app': {} }, 'f:finalizers': { '.': {}, 'v:"example.com/a"': {} } },
          'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"web"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:args': {} } } } } },
        },
      },
      { manager: 'autoscaler', operation: 'Update', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ],
  },
  spec: { replicas: 3, template: { spec: { containers: [{ name: 'web', image: 'nginx', args: ['-a', '-b'] }, { name: 'other' }] } } },
};

describe('an object as text', () => {
  const text = objectText(DEPLOYMENT);
  test('has no managed fields, and reads back as it was', () => {
    expect(text).not.toContain('managedFields');
    const { managedFields: _, ...metadata } = DEPLOYMENT.metadata;
    expect(parseObject(text)).toEqual({ object: { ...DEPLOYMENT, metadata } });
  });

  test('says of each line which field it begins', () => {
    const paths = linePaths(text).map((path) => (path ? fieldPathText(path) : ''));
    expect(paths).toEqual([
      'apiVersion',
      'kind',
      'metadata',
      'metadata.name',
      'metadata.labels',
      'metadata.labels.app',
      'metadata.finalizers',
      'metadata.finalizers[0]',
      'spec',
      'spec.replicas',
      'spec.template',
      'spec.template.spec',
      'spec.template.spec.containers',
      'spec.template.spec.containers[0].name',
      'spec.template.spec.containers[0].image',
      'spec.template.spec.containers[0].args',
      'spec.template.spec.containers[0].args[0]',
      'spec.template.spec.containers[0].args[1]',
      'spec.template.spec.containers[1].name',
    ]);
  });

  test('is refused with its line where it is broken', () => {
    expect(parseObject('a: 1\nb: [1').error).toMatchObject({ line: 2 });
    expect(parseObject('- 1').error).toBeDefined();
  });

  test('strings that look like something else stay strings', () => {
    const object: ApiObject = { metadata: { name: 'x' }, data: { a: 'true', b: '1', c: 'null', d: '2026-01-01', e: 'y', f: 'line\nline\n', g: '' } };
    expect(parseObject(objectText(object)).object).toEqual(object);
  });
});

describe('owners of fields', () => {
  const owners = ownersOf(DEPLOYMENT);
  const at = (...path: (string | number)[]): string[] => ownersAt(DEPLOYMENT, owners, path).map(({ manager }) => manager);
  test.each([
    [['spec', 'replicas'], ['autoscaler']],
    [['metadata', 'labels', 'app'], ['kubectl-apply']],
    [['metadata', 'labels'], []],
    [['metadata', 'finalizers', 0], ['kubectl-apply']],
    [['spec', 'template', 'spec', 'containers', 0], ['kubectl-apply']],
    [['spec', 'template', 'spec', 'containers', 0, 'image'], ['kubectl-apply']],
    // An atomic list is owned as a whole.
    [['spec', 'template', 'spec', 'containers', 0, 'args', 1], ['kubectl-apply']],
    [['spec', 'template', 'spec', 'containers', 1, 'name'], []],
    [['metadata', 'name'], []],
  ])('%j', (path, expected) => {
    expect(at(...path)).toEqual(expected);
  });
});

describe('a diff', () => {
  const show = (before: string, after: string): string =>
    diffLines(before, after)
      .map(({ type, text }) => `${{ same: ' ', added: '+', removed: '-' }[type]}${text}`)
      .join('|');
  test.each([
    ['a\nb\nc', 'a\nb\nc', ' a| b| c'],
    ['a\nb\nc', 'a\nx\nc', ' a|-b|+x| c'],
    ['a\nb', 'a\nb\nc', ' a| b|+c'],
    ['a\nb\nc', 'c', '-a|-b| c'],
    ['a\nb\nc\nd\ne', 'b\nx\nd\ny\ne', '-a| b|-c|+x| d|+y| e'],
    ['', 'a', '-|+a'],
  ])('%j → %j', (before, after, expected) => {
    expect(show(before, after)).toBe(expected);
  });

  test('of texts with nothing in common ends', () => {
    const lines = (prefix: string): string => Array.from({ length: 3_000 }, (_, index) => `${prefix}${index}`).join('\n');
    expect(diffLines(lines('a'), lines('b'))).toHaveLength(6_000);
  });

  test('has what is near to a difference', () => {
    const before = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`).join('\n');
    const hunks = hunksOf(diffLines(before, before.replace('line 10', 'x').replace('line 30\n', 'y\n')));
    expect(hunks.map(({ beforeLine, lines }) => [beforeLine, lines.length])).toEqual([
      [7, 8],
      [27, 8],
    ]);
  });
});

describe('a merge of what two people changed', () => {
  const base = { spec: { replicas: 1, image: 'a', args: ['x'] }, data: { k: 'v' } };
  test('keeps both where they are apart', () => {
    const mine = { spec: { replicas: 1, image: 'b', args: ['x'] } };
    const theirs = { spec: { replicas: 3, image: 'a', args: ['x'] }, data: { k: 'v' }, status: {} };
    expect(mergeThreeWay(base, mine, theirs)).toEqual({ merged: { spec: { replicas: 3, image: 'b', args: ['x'] }, status: {} }, conflicts: [] });
  });
  test('names the fields that both changed, and takes mine', () => {
    const { merged, conflicts } = mergeThreeWay(base, { ...base, spec: { ...base.spec, replicas: 5 } }, { ...base, spec: { ...base.spec, replicas: 3 } });
    expect(merged).toMatchObject({ spec: { replicas: 5 } });
    expect(conflicts).toEqual([{ path: ['spec', 'replicas'], from: 3, to: 5 }]);
  });
  test('changes are told leaf by leaf', () => {
    expect(changesBetween(base, { ...base, spec: { ...base.spec, args: ['y'] } })).toEqual([{ path: ['spec', 'args'], from: ['x'], to: ['y'] }]);
  });
});
