import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CURRENT_FACTS } from '../../../scripts/facts/current.ts';
import { columnsOf, groupVersions, resourceFacts, resourcesOf } from './resources.ts';
import { schemaOfKind } from './schemas.ts';

const read = <T>(file: string): T => JSON.parse(readFileSync(join(CURRENT_FACTS, file), 'utf8')) as T;

describe('built-in resources', () => {
  test('by name, with what discovery shows of them', () => {
    expect(resourceFacts('apps/v1/deployments')).toMatchObject({
      group: 'apps',
      version: 'v1',
      kind: 'Deployment',
      singular: 'deployment',
      namespaced: true,
      shortNames: ['deploy'],
      categories: ['all'],
      returnsDeletedObject: false,
      subresources: {
        scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
        status: { group: 'apps', kind: 'Deployment' },
      },
    });
    expect(resourceFacts('v1/pods').returnsDeletedObject).toBe(true);
    expect(() => resourceFacts('v1/nothing')).toThrow('no built-in resource');
  });

  test('columns, none for what can not be listed', () => {
    expect(columnsOf('v1/configmaps').map(({ name }) => name)).toEqual(['Name', 'Data', 'Age']);
    expect(columnsOf('v1/bindings')).toEqual([]);
  });

  test('68 resources are on by default', () => {
    const isOn = groupVersions.filter(({ isOnByDefault }) => isOnByDefault);
    expect(isOn.flatMap(({ group, version }) => resourcesOf(group, version))).toHaveLength(68);
    expect(isOn.every(({ stability }) => stability === 'stable')).toBe(true);
    expect(resourcesOf('nothing', 'v1')).toEqual([]);
  });

  test('every kind of a resource or subresource has a schema', () => {
    for (const { group, version } of groupVersions) {
      for (const resource of resourcesOf(group, version)) {
        expect(schemaOfKind(group, version, resource.kind).fields.size).toBeGreaterThan(0);
        for (const subresource of Object.values(resource.subresources)) schemaOfKind(subresource.group, subresource.version, subresource.kind);
      }
    }
  });

  test("groups in discovery's order, with the priorities of their APIServices", () => {
    const isOn = groupVersions.filter(({ isOnByDefault }) => isOnByDefault);
    const groups = read<{ groups: { name: string; versions: { groupVersion: string }[] }[] }>('discovery/apis.json').groups;
    expect(isOn.slice(1).map(({ groupVersion }) => groupVersion)).toEqual(groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion)));
    const services = read<{ spec: { group?: string; version: string; groupPriorityMinimum: number; versionPriority: number } }[]>('bootstrap/apiservices.json');
    for (const { spec } of services) {
      const { groupPriorityMinimum, versionPriority } = spec;
      expect(isOn.find(({ group, version }) => group === (spec.group ?? '') && version === spec.version)?.priority).toEqual({
        groupPriorityMinimum,
        versionPriority,
      });
    }
  });
});
