import { type ApiObject, apiVersionOf } from '../../api/api-object.ts';
import { compareVersionNames } from '../../api/version-names.ts';
import { groupVersions } from '../../apis/facts/resources.ts';
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../../apis/facts/types/apiextensions-v1.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { stringifyJson } from '../../encoding/json.ts';
import type { RecordedResource } from '../../history/flight-format.ts';
import type { CompletedOptions } from '../../options/completion.ts';
import type { ResourceDefinition, ServedVersion } from '../../registry/definition.ts';
import { kindSettings } from '../object-stores.ts';
import { servedVersions } from '../served-resources.ts';
import { storedKinds } from '../stored-kinds.ts';

interface BuiltIn {
  definition: ResourceDefinition;
  served: ServedVersion;
}

/** Where the objects of a recorded cluster are kept in a store of ours, and what defines them there. */
export class ReplayedResources {
  readonly #keyPrefix: string;
  readonly #builtIn = new Map<string, BuiltIn>();
  readonly #recorded: ReadonlySet<string>;

  constructor(options: CompletedOptions, recorded: readonly RecordedResource[]) {
    this.#keyPrefix = `${options.etcdPrefix}/`;
    this.#recorded = new Set(recorded.map(nameOf));
    const kinds = storedKinds(kindSettings(options));
    const isServed = servedVersions(options, () => kinds);
    for (const definition of kinds) {
      for (const served of definition.served) {
        const facts = groupVersions.find(({ group, version }) => group === served.group && version === served.version);
        if (facts && isServed(facts, definition.plural))
          this.#builtIn.set(`${apiVersionOf(served.group, served.version)} ${definition.plural}`, { definition, served });
      }
    }
  }

  /** Undefined for what another resource that was recorded has too: events have two groups. */
  keyOf(resource: RecordedResource, key: string): string | undefined {
    if (resource.group === 'events.k8s.io' && this.#recorded.has('/events')) return undefined;
    const prefix = this.#builtInOf(resource)?.definition.storage.prefix ?? `${resource.group}/${resource.plural}`;
    return `${this.#keyPrefix}${prefix}/${key}`;
  }

  /** As our own stores keep it: kind and version first, in the version that is stored. */
  valueOf(resource: RecordedResource, object: JsonObject): Buffer {
    const served = this.#builtInOf(resource)?.served;
    const stored = served?.toStored ? (served.toStored(structuredClone(object) as unknown as ApiObject) as unknown as JsonObject) : object;
    const { kind, apiVersion, metadata, ...rest } = stored;
    return Buffer.from(stringifyJson({ kind, apiVersion, metadata: ordered(metadata as JsonObject), ...rest } as JsonObject));
  }

  /** Those that nothing defines: of aggregated servers, and of versions that this release does not serve. */
  undefinedAmong(resources: readonly RecordedResource[], defined: ReadonlySet<string>): RecordedResource[] {
    return resources.filter((resource) => resource.group !== '' && !this.#builtInOf(resource) && !defined.has(`${resource.plural}.${resource.group}`));
  }

  #builtInOf({ group, version, plural }: RecordedResource): BuiltIn | undefined {
    return this.#builtIn.get(`${apiVersionOf(group, version)} ${plural}`);
  }
}

export const nameOf = ({ group, plural }: RecordedResource): string => `${group}/${plural}`;

/** The order that lets the store put the version in without parsing. */
function ordered({ name, generateName, namespace, uid, resourceVersion: _version, ...rest }: JsonObject): JsonObject {
  return {
    ...(name !== undefined && { name }),
    ...(generateName !== undefined && { generateName }),
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...rest,
  };
}

/** A definition that keeps everything, for objects whose own server is not there. */
export function syntheticDefinition({
  group,
  version,
  plural,
  kind,
  namespaced,
  shortNames,
  singular,
  categories,
}: RecordedResource): CustomResourceDefinition {
  const names = {
    plural,
    kind,
    listKind: `${kind}List`,
    singular: singular || kind.toLowerCase(),
    shortNames: [...shortNames],
    categories: [...(categories ?? [])],
  };
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' as const, reason: 'Replayed', message: '' }));
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, uid: `replayed-${plural}.${group}`, generation: 1 },
    spec: { group, scope: namespaced ? 'Namespaced' : 'Cluster', names, versions: [{ name: version, served: true, storage: true }] },
    status: { acceptedNames: names, conditions, storedVersions: [version] },
  } as unknown as CustomResourceDefinition;
}

/** The definition as it can be served: objects are stored in the version that was recorded, and nobody converts them where that takes a webhook. */
export function withoutConverter(crd: CustomResourceDefinition, recordedVersion: string | undefined): CustomResourceDefinition {
  const { spec, status } = crd;
  const known = (spec.versions ?? []).find(({ name }) => name === recordedVersion) ?? preferredOf(crd);
  if (known === undefined) return crd;
  const isByWebhook = spec.conversion?.strategy === 'Webhook';
  const versions = spec.versions!.map((version) => ({ ...version, storage: version === known, served: isByWebhook ? version === known : version.served }));
  return { ...crd, spec: { ...spec, versions, conversion: { strategy: 'None' } }, status: { ...status, storedVersions: [known.name] } };
}

/** The version that discovery prefers, and recorders take. */
const preferredOf = ({ spec: { versions } }: CustomResourceDefinition): CustomResourceDefinitionVersion | undefined =>
  (versions ?? []).filter(({ served }) => served).toSorted((a, b) => compareVersionNames(b.name, a.name))[0];
