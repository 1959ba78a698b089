import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '../apis/facts/types/apiextensions-v1.ts';
import { type ApiVersion, type InstalledResource, storageVersionHashOf } from '../registry/api-version.ts';
import type { ResourceDefinition, ServedVersion } from '../registry/definition.ts';
import type { GenericServer } from '../server/generic-server.ts';
import type { WebhookRoutes } from '../client/webhook-route.ts';
import type { InProcessClient } from '../server/in-process-client.ts';
import type { Stores } from '../server/stores.ts';
import { apiVersionOf } from '../api/api-object.ts';
import { equalJson } from '../encoding/json-equal.ts';
import type { ObserveConversion } from './conversion/metrics.ts';
import { type Converter, NO_CONVERSION, betweenVersions } from './conversion/converter.ts';
import { VersionConversion } from './conversion/version-conversion.ts';
import { WebhookConverter } from './conversion/webhook-converter.ts';
import { type CustomParts, isServed, versionDefinitions } from './custom-definition.ts';
import { isConditionTrue } from './definition-conditions.ts';
import { LazyStore, SharedCache } from './lazy-store.ts';
import { AcceptedNames, areNamesFree } from './naming.ts';
import { storedForm } from './stored-form.ts';

/** Of all groups of definitions among groups, and of their versions (kube-aggregator's autoregister for CRDs). */
const PRIORITY = { groupPriorityMinimum: 1_000, versionPriority: 100 };

interface Installed {
  uid: string;
  generation: number;
  names: CustomResourceDefinitionNames;
  definition: ResourceDefinition;
  views: readonly VersionView[];
  /** The objects in whatever versions they are stored: to be read without waiting for a conversion. */
  asStored: LazyStore;
  converter: Converter;
}

interface VersionView {
  definition: ResourceDefinition;
  served: ServedVersion;
  store: LazyStore;
}

export interface CustomResourcesOptions {
  server: GenericServer;
  stores: Stores;
  client: InProcessClient;
  parts: Omit<CustomParts, 'read' | 'isTerminating'>;
  observeConversion: ObserveConversion;
  /** Told whenever what a definition adds to the OpenAPI documents has to be made anew. */
  onDocumentsStale: (reason: 'add' | 'update' | 'remove', name: string, group: string, versions: readonly string[]) => void;
  /** How conversion webhooks are reached. */
  webhookRoutes: WebhookRoutes;
  /** A definition that is there now. */
  read(name: string): CustomResourceDefinition | undefined;
}

/**
 * The resources that definitions define, installed as the definitions come, change and go. A definition is served from the moment it is stored, if its
 * names are free: the conditions in its status follow.
 */
export class CustomResources {
  readonly #options: CustomResourcesOptions;
  readonly #installed = new Map<string, Installed>();
  readonly #terminating = new Set<string>();
  readonly #names = new AcceptedNames();
  /** By group, then version. */
  readonly #groups = new Map<string, Map<string, Map<string, InstalledResource>>>();
  /** By group-version: the resources in which it is to be published anew. */
  readonly #changed = new Map<string, { version: ServedVersion; plurals: Set<string> }>();
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
    this.#settle(name, crd);
    this.#publishAll();
  }

  /** The same for many. */
  syncAll(crds: Iterable<CustomResourceDefinition>): void {
    for (const crd of crds) this.#settle(crd.metadata.name!, crd);
    this.#publishAll();
  }

  #settle(name: string, crd: CustomResourceDefinition | undefined): void {
    const known = this.#installed.get(name);
    const isServable = crd !== undefined && this.#isServable(crd);
    this.#names.set(name, crd, crd && namesOf(crd));
    if (crd?.metadata.deletionTimestamp === undefined) this.#terminating.delete(name);
    else this.#terminating.add(name);
    if (crd === undefined || !isServable) {
      if (known !== undefined) {
        this.#remove(name, known);
        this.#tellOfDocuments('remove', name, known);
      }
      return;
    }
    const names = namesOf(crd);
    const { uid, generation } = crd.metadata;
    if (known?.uid === uid && known?.generation === generation && equalJson(known?.names, names)) return;
    if (known !== undefined) this.#remove(name, known);
    this.#install(name, crd);
    this.#tellOfDocuments(known === undefined ? 'add' : 'update', name, this.#installed.get(name)!);
  }

  #tellOfDocuments(reason: 'add' | 'update' | 'remove', name: string, { definition, views }: Installed): void {
    const versions = views.filter(({ served }) => isServed(served)).map(({ served }) => served.version);
    this.#options.onDocumentsStale(reason, name, definition.group, versions);
  }

  #isServable(crd: CustomResourceDefinition): boolean {
    if (isConditionTrue(crd, 'Established') || isConditionTrue(crd, 'NamesAccepted')) return true;
    return (crd.status.conditions ?? []).length === 0 && areNamesFree(crd, this.#names);
  }

  #install(name: string, crd: CustomResourceDefinition): void {
    const { stores, client, parts, observeConversion, webhookRoutes } = this.#options;
    const ownParts: CustomParts = { ...parts, read: () => this.#options.read(name), isTerminating: () => this.#terminating.has(name) };
    const converter = converterOf(crd, webhookRoutes, observeConversion);
    const definitions = versionDefinitions(crd, ownParts, converter);
    const definition = definitions.find(({ version }) => version === storedVersionOf(crd))!;
    const { views, asStored } = versionViews(crd, definition, definitions, stores, converter);
    const { uid, generation = 0 } = crd.metadata;
    this.#installed.set(name, { uid: uid!, generation, names: namesOf(crd), definition, views, asStored, converter });
    const storageVersionHash = storageVersionHashOf(definition);
    for (const view of views.filter(({ served }) => isServed(served))) {
      this.#resourcesIn(view.served).set(definition.plural, {
        ...view,
        subresources: view.definition.subresources ?? {},
        storageVersionHash,
        isCustom: true,
      });
      this.#note(view.served, definition.plural);
    }
    client.add(views.find((view) => view.definition === definition)!.store, asStored);
  }

  #remove(name: string, { definition, views, asStored, converter }: Installed): void {
    this.#installed.delete(name);
    this.#options.client.remove(definition.group, definition.plural);
    for (const { served, store } of views) {
      const isGone = this.#groups.get(served.group)?.get(served.version)?.delete(definition.plural);
      if (isGone) this.#note(served, definition.plural);
      store.close();
    }
    asStored.close();
    converter.close();
  }

  #note(version: ServedVersion, plural: string): void {
    const key = apiVersionOf(version.group, version.version);
    const changed = this.#changed.get(key) ?? { version, plurals: new Set<string>() };
    changed.plurals.add(plural);
    this.#changed.set(key, changed);
  }

  #resourcesIn({ group, version }: ServedVersion): Map<string, InstalledResource> {
    let versions = this.#groups.get(group);
    if (versions === undefined) this.#groups.set(group, (versions = new Map()));
    let resources = versions.get(version);
    if (resources === undefined) versions.set(version, (resources = new Map()));
    return resources;
  }

  /** What has changed since the last time, all at once: a definition that took another's place was never gone. */
  #publishAll(): void {
    if (this.#changed.size === 0) return;
    for (const { version, plurals } of this.#changed.values()) this.#publish(version, plurals);
    this.#changed.clear();
    for (const listener of this.#listeners) listener();
  }

  /** Documents are kept by the value that they were made of: each change is a new one. What it holds is not copied, since it may be thousands. */
  #publish({ group, version }: ServedVersion, changed: ReadonlySet<string>): void {
    const { server } = this.#options;
    const versions = this.#groups.get(group)!;
    const resources = versions.get(version)!;
    if (resources.size > 0) server.install({ group, version, ...PRIORITY, resources }, changed);
    else {
      server.uninstall(group, version);
      versions.delete(version);
      if (versions.size === 0) this.#groups.delete(group);
    }
  }
}

const storedVersionOf = ({ spec }: CustomResourceDefinition): string => spec.versions!.find(({ storage }) => storage)!.name;

function converterOf({ metadata, spec }: CustomResourceDefinition, routes: WebhookRoutes, observe: ObserveConversion): Converter {
  const versions = spec.versions!.map(({ name }) => name);
  const isByWebhook = spec.conversion?.strategy === 'Webhook';
  return betweenVersions(spec.group, versions, isByWebhook ? new WebhookConverter(metadata.name!, spec.conversion!, routes, observe) : NO_CONVERSION);
}

/** All over one cache. The version that is stored needs no conversion, unless objects of other versions may still be in the store. */
function versionViews(
  crd: CustomResourceDefinition,
  stored: ResourceDefinition,
  definitions: readonly ResourceDefinition[],
  stores: Stores,
  converter: Converter,
): { views: VersionView[]; asStored: LazyStore } {
  const isUniform = (crd.status.storedVersions ?? []).length <= 1;
  const isUnchanged = (crd.metadata.generation ?? 1) === 1 && isUniform;
  // What stays is told apart here, so that the definition itself, which is large, does not.
  const cache = new SharedCache(() => stores.openApart(stored, storedForm(stored, { isUnchanged })));
  const asStored = new LazyStore(stored, () => cache.open(stored, undefined));
  const views = definitions.map((definition) => {
    const served = definition.served[0]!;
    if (definition === stored && isUniform) return { definition, served, store: asStored };
    const conversion = new VersionConversion(served, stored.served[0]!, converter);
    return { definition, served, store: new LazyStore(definition, () => cache.open(definition, conversion)) };
  });
  return { views, asStored };
}

/** Those that were accepted; of a definition that nobody has looked at yet, those that it asks for. */
const namesOf = ({ spec, status }: CustomResourceDefinition): CustomResourceDefinitionNames =>
  status.acceptedNames.plural === '' ? spec.names : status.acceptedNames;
