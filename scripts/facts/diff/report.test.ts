import { expect, test } from 'vitest';
import type { OpenApiSchema } from '../openapi.ts';
import type { UpstreamPaths } from '../upstream-paths.ts';
import { type FactSet, stable } from './fact-set.ts';
import { report } from './report.ts';

const PATHS: UpstreamPaths = {
  groups: { apps: { ours: 'src/apis/apps', upstream: ['pkg/apis/apps'] } },
  kinds: { 'apps/ships': { ours: 'src/apis/apps/ship.ts', upstream: ['pkg/registry/apps/ship'] } },
  parts: { 'src/server': ['staging/src/k8s.io/apiserver/pkg/server'] },
};
const SOURCES = new Map([
  ['src/cli/flags.ts', "'anchor-depth': flag(int), 'anchor-depth-max': flag(int)"],
  ['src/apis/features.ts', 'Anchor: true'],
]);

const table = (entries: Record<string, unknown>): Map<string, string> => new Map(Object.entries(entries).map(([key, value]) => [key, stable(value)]));

function shipSchema(properties: Record<string, OpenApiSchema>, required: string[] = []): [string, OpenApiSchema] {
  return ['io.k8s.api.apps.v1.Ship', { properties, required, 'x-kubernetes-group-version-kind': [{ group: 'apps', version: 'v1', kind: 'Ship' }] }];
}

const BEFORE: FactSet = {
  version: 'v1.36.4',
  groupVersions: new Map([
    ['apps/v1', 'on by default'],
    ['apps/v1beta1', 'off by default'],
  ]),
  resources: table({ 'apps/v1/ships': { kind: 'Ship', verbs: ['get'] }, 'apps/v1beta1/ships': {} }),
  schemas: new Map([
    shipSchema({ name: { type: 'string' }, sails: { type: 'array', items: { type: 'string', default: '' } } }, ['name']),
    ['io.k8s.api.apps.v1.Old', {}],
  ]),
  hasEnumerations: true,
  flags: table({ 'anchor-depth': { type: 'int', default: '3' } }),
  flagNames: undefined,
  gates: table({ Anchor: { stage: 'BETA', default: true } }),
  metrics: undefined,
  bootstrap: table({ 'clusterroles/admin': { rules: [1] } }),
  columns: table({ 'apis/apps/v1/ships': [{ name: 'Name', priority: 0 }] }),
  checks: table({ 'readyz/ping': '' }),
  upstream: table({ 'pkg/registry/apps/ship/strategy.go': 'a', 'pkg/apis/apps/types.go': 'a', 'pkg/other/x.go': 'a' }),
};

const AFTER: FactSet = {
  ...BEFORE,
  version: 'v1.37',
  groupVersions: new Map([
    ['apps/v1', 'on by default'],
    ['sea.example.com/v1', 'off by default'],
  ]),
  resources: table({ 'apps/v1/ships': { kind: 'Ship', verbs: ['get', 'list'] }, 'apps/v1/ships/status': { kind: 'Ship', namespaced: true } }),
  schemas: new Map([shipSchema({ name: { type: 'string' }, sails: { type: 'array', items: { type: 'string' } }, hull: { type: 'string', enum: ['x'] } })]),
  hasEnumerations: false,
  flags: table({ 'anchor-depth': { type: 'int', default: '4' } }),
  gates: table({ Anchor: { stage: 'GA', default: true, locked: true }, Sail: { stage: 'ALPHA', default: false, needs: ['Anchor'] } }),
  bootstrap: table({ 'clusterroles/admin': { rules: [1, 2] }, 'namespaces/kube-sea': {} }),
  columns: table({
    'apis/apps/v1/ships': [
      { name: 'Name', priority: 0 },
      { name: 'Port', priority: 1 },
    ],
  }),
  checks: table({ 'readyz/ping': '', 'readyz/poststarthook/anchor': '' }),
  upstream: table({
    'pkg/registry/apps/ship/strategy.go': 'b',
    'pkg/apis/apps/types.go': 'a',
    'pkg/apis/apps/v1/defaults.go': 'c',
    'staging/src/k8s.io/apiserver/pkg/server/config.go': 'd',
  }),
};

test('every change with the files that it concerns', () => {
  const lines = report(BEFORE, AFTER, { paths: PATHS, sources: SOURCES }).split('\n');
  expect(lines[0]).toBe('# From v1.36.4 to v1.37');
  expect(lines).toContain('Not compared, since one of both sets has no such facts: metrics.');
  expect(lines.filter((line) => line.startsWith('- '))).toEqual([
    '- − apps/v1beta1 → src/apis/apps',
    '- + sea.example.com/v1: off by default',
    '- ~ apps/v1/ships: verbs: +"list" → src/apis/apps/ship.ts',
    '- + apps/v1/ships/status: Ship, namespaced → src/apis/apps/ship.ts',
    '- − apps/v1beta1/ships → src/apis/apps/ship.ts',
    '- − apps.v1.Old → src/apis/apps',
    '- ~ apps.v1.Ship: +hull, ~name (no longer required) → src/apis/apps/ship.ts',
    '- ~ anchor-depth: default: "3" → "4" → src/cli/flags.ts',
    '- ~ Anchor: BETA on → GA on locked → src/apis/features.ts',
    '- + Sail: ALPHA off needs Anchor',
    '- ~ clusterroles/admin: rules: +2 → src/kube/bootstrap/data/cluster-roles.json',
    '- + namespaces/kube-sea → src/kube/bootstrap',
    '- ~ apis/apps/v1/ships: +"Port (wide)" → src/apis/apps/ship.ts',
    '- + readyz/poststarthook/anchor',
    '- src/apis/apps/ship.ts: pkg/registry/apps/ship (~strategy.go)',
    '- src/apis/apps: pkg/apis/apps (+v1/defaults.go)',
    '- src/server: k8s.io/apiserver/pkg/server (+config.go)',
  ]);
});

test('defaults of items that come or go everywhere are one line', () => {
  const { schemas: _schemas, ...rest } = BEFORE;
  const after = {
    ...rest,
    schemas: new Map([shipSchema({ name: { type: 'string' }, sails: { type: 'array', items: { type: 'string' } } }, ['name']), ['io.k8s.api.apps.v1.Old', {}]]),
  };
  const lines = report(BEFORE, after, { paths: PATHS, sources: SOURCES }).split('\n');
  expect(lines.filter((line) => line.startsWith('- '))).toEqual([
    '- ~ defaults of items: 1 types differ only in the zero value that is shown as default of the items of their lists and maps',
  ]);
});

test('the same facts have no changes', () => expect(report(BEFORE, BEFORE, { paths: PATHS, sources: SOURCES })).not.toContain('\n- '));
