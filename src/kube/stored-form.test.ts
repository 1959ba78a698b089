import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { customResourceDefinitions } from '../apis/apiextensions/custom-resource-definition.ts';
import { apiServices } from '../apis/apiregistration/api-service.ts';
import type { ServiceAllocators } from '../apis/core/service/allocation.ts';
import { resourceFacts } from '../apis/facts/resources.ts';
import { featuresWhere } from '../apis/features.ts';
import { storedResource } from '../apis/stored-resources.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import { storedKind } from '../registry/stored-codec.ts';
import { apiVersionOf } from '../api/api-object.ts';
import { kubeKinds } from './kinds.ts';

/* Where every built-in kind is kept below /registry, and as what (upstream's test/integration/etcd/data.go). */

/** Those that are not kept under their plural. */
const IRREGULAR_PREFIXES: Record<string, string> = {
  nodes: 'minions',
  services: 'services/specs',
  endpoints: 'services/endpoints',
  replicationcontrollers: 'controllers',
  ingresses: 'ingress',
  customresourcedefinitions: 'apiextensions.k8s.io/customresourcedefinitions',
  apiservices: 'apiregistration.k8s.io/apiservices',
};

/** Those that are not stored in the version whose definition this server has. */
const OTHER_VERSIONS: Record<string, string> = {
  mutatingadmissionpolicies: 'admissionregistration.k8s.io/v1beta1',
  mutatingadmissionpolicybindings: 'admissionregistration.k8s.io/v1beta1',
  customresourcedefinitions: 'apiextensions.k8s.io/v1beta1',
};

const AS_JSON = new Set(['apiservices', 'customresourcedefinitions']);

const kinds: ResourceDefinition[] = [
  ...kubeKinds({
    allocators: {} as ServiceAllocators,
    eventTtlSeconds: 3600,
    now: () => new Date(),
    settings: { features: featuresWhere(() => true), allowsPrivileged: false },
  }),
  customResourceDefinitions as unknown as ResourceDefinition,
  apiServices as unknown as ResourceDefinition,
];

/** As discovery has it of a kind that is stored (apiserver/pkg/endpoints/discovery StorageVersionHash). */
const hashOf = (group: string, version: string, kind: string): string =>
  createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');

test('all kinds are looked at', () => expect(kinds).toHaveLength(68));

describe.each(kinds.map((definition) => [`${apiVersionOf(definition.group, definition.version)}/${definition.plural}`, definition] as const))(
  '%s',
  (name, definition) => {
    const { plural, storage, group } = definition;
    const { written, isJson } = storedKind(definition);

    test('is kept where upstream keeps it', () => {
      expect(storage.prefix).toBe(IRREGULAR_PREFIXES[plural] ?? plural);
      expect(storedResource(`${storage.prefix}/some/name`)).toEqual({ group: storage.group ?? group, resource: plural });
    });

    test('is written in the version that discovery of the reference tells', () => {
      const stored = apiVersionOf(written.group, written.version);
      if (OTHER_VERSIONS[plural]) expect(stored).toBe(OTHER_VERSIONS[plural]);
      const { storageVersionHash } = resourceFacts(name);
      // Some kinds are off by default, and have no hash among the facts.
      if (storageVersionHash) expect(hashOf(written.group, written.version, written.kind)).toBe(storageVersionHash);
    });

    test('is written as protobuf, but for the two of the other servers', () => {
      expect(isJson).toBe(AS_JSON.has(plural));
      if (!isJson) expect(written.schema?.protoMessage).toBeDefined();
    });
  },
);

test.each([
  ['example.com/widgets/default/one', { group: 'example.com', resource: 'widgets' }],
  ['events/default/some.event', { group: '', resource: 'events' }],
  ['masterleases/10.0.0.1', { group: '', resource: 'apiServerIPInfo' }],
  ['ranges/servicenodeports', { group: '', resource: 'services' }],
  ['__proto__/x', { group: '', resource: '__proto__' }],
  ['unheard/of', { group: '', resource: 'unheard' }],
])('what is kept at %s', (path, resource) => expect(storedResource(path)).toEqual(resource));
