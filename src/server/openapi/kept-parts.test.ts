import { describe, expect, test } from 'vitest';
import { defineResource } from '../../apis/define.ts';
import { resourcesOf } from '../../apis/facts/resources.ts';
import { knownGroupVersions, openApiTypes as types } from '../../apis/openapi-facts.ts';
import { stringifyJson, stringifyUnescaped } from '../../encoding/json.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import type { ApiVersion, InstalledResource } from '../../registry/api-version.ts';
import type { ResourceStore } from '../../registry/store.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import type { Timer } from '../../util/clock.ts';
import { type SlicedWork, runAtOnce } from '../../util/time-slice.ts';
import { describedBy } from './descriptions.ts';
import { type DocumentPart, partOf } from './document-text.ts';
import { documentV2 } from './document-v2.ts';
import { documentV3 } from './document-v3.ts';
import { OpenApiDocuments } from './documents.ts';
import { KeptParts } from './kept-parts.ts';
import type { Route } from './routes.ts';
import { routesOf, sectionsOf } from './sections.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const descriptions = describedBy({ texts: ['<of a ship>'], types: { [`${META}.ObjectMeta`]: { '': 0, name: 0 } } });
const release = '1.36';

const installed = (definition: InstalledResource['definition'], served: InstalledResource['served'], isCustom: boolean): InstalledResource => ({
  definition,
  served,
  store: {} as ResourceStore,
  subresources: definition.subresources ?? {},
  storageVersionHash: '',
  isCustom,
});

function builtIn(group: string, version: string, plurals: readonly string[]): Map<string, InstalledResource> {
  const named = resourcesOf(group, version).filter(({ plural }) => plurals.includes(plural));
  return new Map(
    named.map(({ plural }) => {
      const definition = defineResource(`${group === '' ? '' : `${group}/`}${version}/${plural}`);
      return [plural, installed(definition, definition.served[0]!, false)];
    }),
  );
}

interface CustomNames {
  kind?: string;
  listKind?: string;
  namespaced?: boolean;
  subresources?: readonly ('status' | 'scale')[];
}

/** A custom resource with fields of these names. */
function custom(
  group: string,
  plural: string,
  fields: readonly string[],
  { kind = `Kind${plural}`, listKind, namespaced = true, subresources = [] }: CustomNames = {},
): InstalledResource {
  const metadata = { name: 'metadata', type: types.schemaOf(`${META}.ObjectMeta`), required: false, whenEmpty: 'omit', pointer: false } as const;
  const schema: ObjectSchema = {
    type: 'object',
    name: `${group.split('.').toReversed().join('.')}.v1.${kind}`,
    kinds: [{ group, version: 'v1', kind }],
    fields: new Map([['metadata', metadata]]),
    custom: { schema: { type: 'object', properties: Object.fromEntries(fields.map((name) => [name, { type: 'string', description: 'a < b' }])) } },
  } as unknown as ObjectSchema;
  const own = { group, version: 'v1', verbs: ['get', 'update', 'patch'] };
  const bySubresource = {
    status: { ...own, kind, schema },
    scale: { ...own, group: 'autoscaling', kind: 'Scale', schema: types.schemaOfKind('autoscaling', 'v1', 'Scale') },
  };
  const definition = {
    ...defineResource('v1/configmaps'),
    plural,
    namespaced,
    subresources: Object.fromEntries(subresources.map((name) => [name, bySubresource[name]])),
  } as unknown as InstalledResource['definition'];
  return installed(definition, { group, version: 'v1', kind, schema, ...(listKind !== undefined && { listKind }) }, true);
}

const versionOf = (group: string, resources: ReadonlyMap<string, InstalledResource>): ApiVersion => ({
  group,
  version: 'v1',
  groupPriorityMinimum: 1,
  versionPriority: 1,
  resources,
});

class Cluster {
  readonly groups = new Map<string, Map<string, InstalledResource>>([
    ['', builtIn('', 'v1', ['configmaps', 'pods'])],
    ['apps', builtIn('apps', 'v1', ['deployments'])],
  ]);
  #versions: ApiVersion[] | undefined;
  readonly documents = new OpenApiDocuments({
    installed: () => (this.#versions ??= [...this.groups].map(([group, resources]) => versionOf(group, resources))),
    remote: { openApiV2: () => NO_DOCUMENTS, openApiV3: () => NO_PATHS },
    types,
    descriptions: () => descriptions,
    release,
    knownGroupVersions,
  });

  set(group: string, plural: string, fields: readonly string[] | undefined, names?: CustomNames): void {
    const resources = this.groups.get(group) ?? new Map<string, InstalledResource>();
    if (fields) resources.set(plural, custom(group, plural, fields, names));
    else resources.delete(plural);
    if (resources.size > 0) this.groups.set(group, resources);
    else this.groups.delete(group);
    this.#versions = undefined;
  }

  /** Every document's text, by path. */
  async published(): Promise<Record<string, string>> {
    const texts: Record<string, string> = { v2: (await (await this.documents.whole('json')).plain()).toString() };
    for (const { path } of this.#sections()) {
      expect(this.documents.has(path)).toBe(true);
      texts[path] = (await (await this.documents.section(path, 'json')).plain()).toString();
    }
    return texts;
  }

  /** The same, made at once and from nothing. */
  expected(): Record<string, string> {
    const sections = this.#sections();
    const options = { release, descriptions, knownGroupVersions };
    const texts: Record<string, string> = {
      v2: stringifyUnescaped(
        whole(
          documentV2(
            sections.flatMap((section) => routesOf(section, types)),
            options,
          ),
        ),
      ),
    };
    const servers = new Set(['admission.k8s.io', 'apiextensions.k8s.io', 'apiregistration.k8s.io', 'imagepolicy.k8s.io']);
    const clientGroupVersions = knownGroupVersions.filter(({ group }) => !servers.has(group));
    for (const section of sections) {
      const { path, version, isCustom } = section;
      const about = { ...(version && { groupVersion: version }), ...(isCustom && { clientGroupVersions }) };
      texts[path] = stringifyJson(whole(documentV3(routesOf(section, types), { ...options, ...about })));
    }
    return texts;
  }

  #sections = () => sectionsOf([...this.groups].map(([group, resources]) => versionOf(group, resources)));
}

const NO_DOCUMENTS: readonly JsonObject[] = [];
const NO_PATHS = new Map<string, never>();
const whole = (steps: ReturnType<typeof documentV2>): JsonObject => runAtOnce(steps);

describe('documents that are put together of kept parts', () => {
  test('are those that are made at once, whatever was added, changed and removed before', async () => {
    const cluster = new Cluster();
    const expectSame = async (): Promise<void> => expect(await cluster.published()).toEqual(cluster.expected());
    await expectSame();
    for (let i = 0; i < 20; i++) cluster.set(i % 2 === 0 ? 'example.com' : 'b.example.com', `ships${i}`, ['spec', 'status']);
    await expectSame();
    cluster.set('example.com', 'boats', ['spec']);
    await expectSame();
    cluster.set('example.com', 'ships4', ['other']);
    await expectSame();
    cluster.set('example.com', 'ships6', undefined);
    await expectSame();
    cluster.set('example.org', 'ships', ['spec']);
    await expectSame();
    cluster.set('example.org', 'ships', undefined);
    // Beside built-in resources, in their group-version.
    cluster.set('apps', 'fleets', ['spec']);
    await expectSame();
    // A type that built-in resources no longer define.
    cluster.groups.delete('');
    cluster.set('apps', 'deployments', undefined);
    await expectSame();
  });

  test('are the same for resources of every shape, whose operations are written from templates', async () => {
    const cluster = new Cluster();
    const shapes: CustomNames[] = [
      {},
      { kind: 'Harbor', listKind: 'Harbors' },
      { kind: 'Anchor', subresources: ['status'] },
      { kind: 'Sails', subresources: ['status', 'scale'] },
      { kind: 'Compass', namespaced: false },
      { kind: 'Oar', namespaced: false, subresources: ['scale'] },
      // Not as they stand in the ids of operations.
      { kind: 'buoy' },
      { kind: 'buoy', namespaced: false },
      { kind: 'Life-boat', subresources: ['status'] },
    ];
    for (const [i, shape] of shapes.entries()) {
      for (const group of ['example.com', 'sea.k8s.io', '9.example-group.org']) cluster.set(group, `namespaces${i}`, ['spec'], shape);
    }
    expect(await cluster.published()).toEqual(cluster.expected());
  });

  test('are made once, and anew when they were not used for long', () => {
    const timers: (() => void)[] = [];
    const after = (_delayMs: number, callback: () => void): Timer => {
      timers.push(callback);
      return { cancel() {} };
    };
    const parts = new KeptParts(types, { after });
    const sections = sectionsOf([versionOf('example.com', new Map([['ships', custom('example.com', 'ships', ['spec'])]]))]);
    let made = 0;
    const make = (routes: readonly Route[]): SlicedWork<DocumentPart> => {
      made += routes.length > 0 ? 1 : 0;
      return partOf({ paths: {}, definitions: {}, parameters: {}, outside: [] }, stringifyJson);
    };
    const section = sections.filter(({ isCustom }) => isCustom);
    const use = (): void => void runAtOnce(parts.of(section, { custom: make, builtIn: make }));
    use();
    use();
    expect(made).toBe(1);
    timers.at(-1)!();
    use();
    expect(made).toBe(2);
  });

  test('have the hash of what has not changed', async () => {
    const cluster = new Cluster();
    cluster.set('example.com', 'ships', ['spec']);
    const before = await cluster.documents.whole('json');
    cluster.set('example.com', 'boats', ['spec']);
    expect((await cluster.documents.whole('json')).hash).not.toBe(before.hash);
    cluster.set('example.com', 'boats', undefined);
    expect((await cluster.documents.whole('json')).hash).toBe(before.hash);
  });
});
