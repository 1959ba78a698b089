import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CURRENT_FACTS } from '../../../scripts/facts/current.ts';
import { defineResource } from '../../apis/define.ts';
import { groupVersions, resourcesOf } from '../../apis/facts/resources.ts';
import { knownGroupVersions, openApiTypes as types } from '../../apis/openapi-facts.ts';
import type { ApiVersion, InstalledResource } from '../../registry/api-version.ts';
import type { ResourceStore } from '../../registry/store.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import { describedBy } from './descriptions.ts';
import { documentV2 } from './document-v2.ts';
import { documentV3 } from './document-v3.ts';
import { routesOf, sectionsOf } from './sections.ts';
import { runAtOnce } from '../../util/time-slice.ts';

const NO_DESCRIPTIONS = describedBy({ texts: [], types: {} });

/** Every built-in version, as if each were the one that is stored. */
function allApiVersions(): ApiVersion[] {
  return groupVersions.map(({ group, version, groupVersion }) => {
    const resources = resourcesOf(group, version).map(({ plural }): [string, InstalledResource] => {
      const definition = defineResource(`${groupVersion}/${plural}`);
      return [
        plural,
        {
          definition,
          served: definition.served[0]!,
          store: {} as ResourceStore,
          subresources: definition.subresources ?? {},
          storageVersionHash: '',
          isCustom: false,
        },
      ];
    });
    return { group, version, groupPriorityMinimum: 1, versionPriority: 1, resources: new Map(resources) };
  });
}

type Tree = Record<string, unknown>;

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key, inner]) => key !== 'description' || typeof inner !== 'string');
  // allOf keeps a reference apart from its siblings, of which the description may have been the only one.
  if (kept.length === 1 && kept[0]![0] === 'allOf') return (kept[0]![1] as unknown[])[0];
  return Object.fromEntries(kept.map(([key, inner]) => [key, strip(inner)]));
}

describe('OpenAPI v3 documents are those that kube-apiserver serves', () => {
  const sections = new Map(sectionsOf(allApiVersions()).map((section) => [section.path, section]));
  const folders = ['openapi-v3', 'optional/openapi-v3'].map((folder) => join(CURRENT_FACTS, folder));
  const files = folders.flatMap((folder) =>
    readdirSync(folder).map((file) => [file.slice(0, -'.json'.length).replaceAll('__', '/'), join(folder, file)] as const),
  );

  test.each(files)('%s', (path, file) => {
    const section = sections.get(path)!;
    const document = runAtOnce(
      documentV3(routesOf(section, types), { release: '1.36', descriptions: NO_DESCRIPTIONS, ...(section.version && { groupVersion: section.version }) }),
    );
    const expected = strip(JSON.parse(readFileSync(file, 'utf8')));
    const actual = strip(document);
    expect(actual).toEqual(expected);
    // Keys in the same order too.
    expect(JSON.stringify(actual) === JSON.stringify(expected)).toBe(true);
  });

  test('every section is recorded', () => expect([...sections.keys()].toSorted()).toEqual(files.map(([path]) => path).toSorted()));
});

/** What v2 makes of a schema of v3: no defaults, references beside their siblings, one type for what may be two. */
function asV2({ allOf, oneOf, default: _none, $ref, properties, items, additionalProperties, ...rest }: Tree): Tree {
  const [wrapped] = (allOf ?? []) as [Tree?];
  const reference = ($ref ?? wrapped?.['$ref']) as string | undefined;
  return {
    ...rest,
    ...(reference !== undefined && { $ref: reference.replace('#/components/schemas/', '#/definitions/') }),
    ...(oneOf !== undefined && { type: 'string' }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties as Record<string, Tree>).map(([name, schema]) => [name, asV2(schema)])),
    }),
    ...(items !== undefined && { items: asV2(items as Tree) }),
    ...(additionalProperties !== undefined && { additionalProperties: asV2(additionalProperties as Tree) }),
  };
}

const operationIds = (item: unknown): unknown[] => Object.values(item as Tree).map((operation) => (operation as Tree)['operationId']);

describe('the OpenAPI v2 document', () => {
  const routes = sectionsOf(allApiVersions()).flatMap((section) => routesOf(section, types));
  const document = runAtOnce(documentV2(routes, { release: '1.36', descriptions: NO_DESCRIPTIONS, knownGroupVersions })) as Record<string, Tree>;
  const folder = join(CURRENT_FACTS, 'openapi-v3');
  const recorded = readdirSync(folder).map(
    (file) => strip(JSON.parse(readFileSync(join(folder, file), 'utf8'))) as { paths: Tree; components: { schemas?: Record<string, Tree> } },
  );

  test('defines every type as v3 does, but for defaults', () => {
    for (const { components } of recorded) {
      for (const [name, schema] of Object.entries(components.schemas ?? {})) {
        if (/\.(DeleteOptions|WatchEvent)$/.test(name)) continue;
        expect({ name, schema: document['definitions']![name] }).toEqual({ name, schema: asV2(schema) });
      }
    }
  });

  test('has every path and operation', () => {
    for (const { paths } of recorded) {
      for (const [path, item] of Object.entries(paths)) expect(operationIds(document['paths']![path])).toEqual(operationIds(item));
    }
  });

  test('lists DeleteOptions under every known group-version', () => {
    const options = document['definitions']!['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'] as Tree;
    expect((options['x-kubernetes-group-version-kind'] as Tree[]).slice(0, 3)).toEqual([
      { group: '', kind: 'DeleteOptions', version: 'v1' },
      { group: 'admission.k8s.io', kind: 'DeleteOptions', version: 'v1' },
      { group: 'admission.k8s.io', kind: 'DeleteOptions', version: 'v1beta1' },
    ]);
  });

  test('tells parameters that many share once, and the body among the others', () => {
    const { put, parameters } = document['paths']!['/api/v1/namespaces/{namespace}/pods/{name}'] as Record<string, Tree> & { parameters: Tree[] };
    expect(parameters[0]).toEqual({ uniqueItems: true, type: 'string', description: 'name of the Pod', name: 'name', in: 'path', required: true });
    const shared = String(parameters[1]!['$ref']).slice('#/parameters/'.length);
    expect(document['parameters']![shared]).toEqual({ uniqueItems: true, type: 'string', name: 'namespace', in: 'path', required: true });
    expect((put!['parameters'] as Tree[]).slice(0, 2)).toEqual([
      { name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/io.k8s.api.core.v1.Pod' } },
      { uniqueItems: true, type: 'string', name: 'dryRun', in: 'query' },
    ]);
  });
});

test('custom resources have neither protobuf, strategic merges nor watch paths, and no document for their group', () => {
  const schema: ObjectSchema = {
    type: 'object',
    name: 'com.example.v1.Ship',
    kinds: [{ group: 'example.com', version: 'v1', kind: 'Ship' }],
    fields: new Map([
      ['spec', { name: 'spec', type: { type: 'object', name: '', fields: new Map(), kinds: [] }, required: false, whenEmpty: 'omit', pointer: true }],
    ]),
  };
  const served = { group: 'example.com', version: 'v1', kind: 'Ship', schema };
  const definition = { ...defineResource('v1/configmaps'), plural: 'ships', subresources: {} };
  const resource: InstalledResource = { definition, served, store: {} as ResourceStore, subresources: {}, storageVersionHash: '', isCustom: true };
  const version: ApiVersion = { group: 'example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, resources: new Map([['ships', resource]]) };
  const sections = sectionsOf([version]).filter(({ path }) => path.includes('example.com'));
  expect(sections.map(({ path }) => path)).toEqual(['apis/example.com/v1']);
  const document = runAtOnce(documentV3(routesOf(sections[0]!, types), { release: '1.36', descriptions: NO_DESCRIPTIONS, groupVersion: version })) as Record<
    string,
    Record<string, Tree>
  >;
  expect(Object.keys(document['paths']!)).toEqual([
    '/apis/example.com/v1/namespaces/{namespace}/ships',
    '/apis/example.com/v1/namespaces/{namespace}/ships/{name}',
    '/apis/example.com/v1/ships',
  ]);
  const schemas = document['components']!['schemas'] as Record<string, Tree>;
  expect(schemas['com.example.v1.ShipList']!['required']).toEqual(['items']);
  expect(schemas['com.example.v1.Ship']!['properties']).toEqual({ spec: { type: 'object' } });
  const patch = document['paths']!['/apis/example.com/v1/namespaces/{namespace}/ships/{name}']!['patch'] as {
    operationId: string;
    requestBody: { content: Tree };
  };
  expect(patch.operationId).toBe('patchExampleComV1NamespacedShip');
  expect(Object.keys(patch.requestBody.content)).toEqual(['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json']);
});
