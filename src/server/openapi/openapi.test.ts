import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defineResource } from '../../apis/define.ts';
import { groupVersions, resourcesOf } from '../../apis/facts/resources.ts';
import { schemaOf, schemaOfKind } from '../../apis/facts/schemas.ts';
import type { ApiVersion, InstalledResource } from '../../registry/api-version.ts';
import type { ResourceStore } from '../../registry/store.ts';
import { describedBy } from './descriptions.ts';
import { documentV3 } from './document-v3.ts';
import { sectionsOf } from './sections.ts';

const FACTS = join(import.meta.dirname, '../../../../shared/facts');
const NO_DESCRIPTIONS = describedBy({});
const types = { schemaOf, schemaOfKind };

/** Every built-in version, as if each were the one that is stored. */
function allApiVersions(): ApiVersion[] {
  return groupVersions.map(({ group, version, groupVersion }) => {
    const resources = resourcesOf(group, version).map(({ plural }): [string, InstalledResource] => {
      const definition = defineResource(`${groupVersion}/${plural}`);
      return [plural, { definition, served: definition.served[0]!, store: {} as ResourceStore, subresources: definition.subresources ?? {}, storageVersionHash: '', isCustom: false }];
    });
    return { group, version, groupPriorityMinimum: 1, versionPriority: 1, resources: new Map(resources) };
  });
}

/** The optional versions were recorded with CBOR switched on. */
const withoutCbor = (key: string): boolean => !key.includes('cbor');

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key, inner]) => withoutCbor(key) && (key !== 'description' || typeof inner !== 'string'));
  // allOf keeps a reference apart from its siblings, of which the description may have been the only one.
  if (kept.length === 1 && kept[0]![0] === 'allOf') return (kept[0]![1] as unknown[])[0];
  return Object.fromEntries(kept.map(([key, inner]) => [key, strip(inner)]));
}

describe.skipIf(!existsSync(FACTS))('OpenAPI v3 documents are those that kube-apiserver serves', () => {
  const sections = new Map(sectionsOf(allApiVersions()).map((section) => [section.path, section]));
  const folders = ['openapi-v3', 'optional/openapi-v3'].map((folder) => join(FACTS, folder));
  const files = folders.filter(existsSync).flatMap((folder) => readdirSync(folder).map((file) => [file.slice(0, -'.json'.length).replaceAll('__', '/'), join(folder, file)] as const));

  test.each(files)('%s', (path, file) => {
    const section = sections.get(path)!;
    const document = documentV3(section.routes(types), { release: '1.36', descriptions: NO_DESCRIPTIONS, ...(section.version && { groupVersion: section.version }) });
    const expected = strip(JSON.parse(readFileSync(file, 'utf8')));
    const actual = strip(document);
    expect(actual).toEqual(expected);
    // Keys in the same order too.
    expect(JSON.stringify(actual) === JSON.stringify(expected)).toBe(true);
  });

  test('every section is recorded', () => expect([...sections.keys()].sort()).toEqual(files.map(([path]) => path).sort()));
});
