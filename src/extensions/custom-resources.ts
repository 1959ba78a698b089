import { createHash } from 'node:crypto';
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '../apis/facts/types/apiextensions-v1.ts';
import type { ApiVersion, InstalledResource } from '../registry/api-version.ts';
import type { ResourceDefinition, ServedVersion } from '../registry/definition.ts';
import type { GenericServer } from '../server/generic-server.ts';
import type { InProcessClient } from '../server/in-process-client.ts';
import type { Stores } from '../server/stores.ts';
import { equalJson } from '../util/json-equal.ts';
import { type CustomParts, customDefinition, isServed, subresourcesIn } from './custom-definition.ts';
import { isConditionTrue } from './definition-conditions.ts';
import { LazyStore } from './lazy-store.ts';
import { areNamesFree } from './naming.ts';
import { storedForm } from './stored-form.ts';

/** Of all groups of definitions among groups, and of their versions (kube-aggregator's autoregister for CRDs). */
const PRIORITY = { groupPriorityMinimum: 1_000, versionPriority: 100 };

interface Installed {
  uid: string;
  generation: number;
  names: CustomResourceDefinitionNames;
  definition: ResourceDefinition;
  store: LazyStore;
}

export interface CustomResourcesOptions {
  server: GenericServer;
  stores: Stores;
  client: InProcessClient;
  parts: CustomParts;
  /** All definitions that there are now. */
  definitions(): readonly CustomResourceDefinition[];
}

/**
 * The resources that definitions define, installed as the definitions come, change and go. A definition is served from the moment it is stored, if its
 * names are free: the conditions in its status follow.
 */
export class CustomResources {
  readonly #options: CustomResourcesOptions;
  readonly #installed = new Map<string, Installed>();
  readonly #terminating = new Set<string>();
  /** By group, then version. */
  readonly #groups = new Map<string, Map<string, Map<string, InstalledResource>>>();
  readonly #listeners = new Set<() => void>();

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
  }

  /** The group-versions that are served because of definitions. */
  versions(): ApiVersion[] {
    return this.#options.server.versions.filter(({ group }) => this.#groups.has(group));
  }

  onVersionsChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Takes in one definition as it is now; undefined once it is gone. */
  sync(name: string, crd: CustomResourceDefinition | undefined): void {
    const known = this.#installed.get(name);
    if (crd?.metadata.deletionTimestamp === undefined) this.#terminating.delete(name);
    else this.#terminating.add(name);
    if (crd === undefined || !this.#isServable(crd)) {
      if (known !== undefined) this.#remove(name, known);
      return;
    }
    const names = namesOf(crd);
    const { uid, generation } = crd.metadata;
    if (known?.uid === uid && known?.generation === generation && equalJson(known?.names, names)) return;
    if (known !== undefined) this.#remove(name, known);
    this.#install(name, crd);
  }

  #isServable(crd: CustomResourceDefinition): boolean {
    if (isConditionTrue(crd, 'Established') || isConditionTrue(crd, 'NamesAccepted')) return true;
    return (crd.status.conditions ?? []).length === 0 && areNamesFree(crd, this.#options.definitions());
  }

  #install(name: string, crd: CustomResourceDefinition): void {
    const { stores, client, parts } = this.#options;
    const definition = customDefinition(crd, { ...parts, isTerminating: () => this.#terminating.has(name) });
    const isUnchanged = (crd.metadata.generation ?? 1) === 1 && (crd.status.storedVersions ?? []).length <= 1;
    const store = new LazyStore(definition, () => stores.openApart(definition, storedForm(definition, isUnchanged)));
    this.#installed.set(name, { uid: crd.metadata.uid!, generation: crd.metadata.generation ?? 0, names: namesOf(crd), definition, store });
    for (const served of definition.served.filter(isServed)) {
      const resource = { definition, served, store, subresources: subresourcesIn(definition, served), storageVersionHash: hashOf(definition), isCustom: true };
      this.#resourcesIn(served).set(definition.plural, resource);
      this.#publish(served);
    }
    client.add(store);
  }

  #remove(name: string, { definition, store }: Installed): void {
    this.#installed.delete(name);
    this.#options.client.remove(definition.group, definition.plural);
    for (const served of definition.served) {
      if (this.#groups.get(served.group)?.get(served.version)?.delete(definition.plural)) this.#publish(served);
    }
    store.close();
  }

  #resourcesIn({ group, version }: ServedVersion): Map<string, InstalledResource> {
    let versions = this.#groups.get(group);
    if (versions === undefined) this.#groups.set(group, (versions = new Map()));
    let resources = versions.get(version);
    if (resources === undefined) versions.set(version, (resources = new Map()));
    return resources;
  }

  /** Servers and their documents hold on to what they are given: each change is a new value. */
  #publish({ group, version }: ServedVersion): void {
    const { server } = this.#options;
    const versions = this.#groups.get(group)!;
    const resources = versions.get(version)!;
    if (resources.size > 0) server.install({ group, version, ...PRIORITY, resources: new Map(resources) });
    else {
      server.uninstall(group, version);
      versions.delete(version);
      if (versions.size === 0) this.#groups.delete(group);
    }
    for (const listener of this.#listeners) listener();
  }
}

/** Those that were accepted; of a definition that nobody has judged yet, those that it asks for. */
const namesOf = ({ spec, status }: CustomResourceDefinition): CustomResourceDefinitionNames => (status.acceptedNames.plural === '' ? spec.names : status.acceptedNames);

/** apiserver/pkg/endpoints/discovery StorageVersionHash */
const hashOf = ({ group, version, kind }: ResourceDefinition): string =>
  createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');
