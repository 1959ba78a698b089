import { hostname } from 'node:os';
import type { ApiObject } from '../../api/api-object.ts';
import { apiVersionOf } from '../../api/api-object.ts';
import { isApiError } from '../../api/errors.ts';
import { serverIdentity } from '../../api/server-identity.ts';
import type { ServerStorageVersion, StorageVersion, StorageVersionStatus } from '../../apis/facts/types/apiserverinternal-v1alpha1.ts';
import type { Client, ResourceClient } from '../../client/client.ts';
import type { ApiVersion, InstalledResource } from '../../registry/api-version.ts';
import { delay } from '../../util/delay.ts';
import { type BootstrapControllerOptions, keepDoing } from './keeping.ts';
import { readableVersions } from './readable-versions.ts';

/* StorageVersionAPI: each server says in which version it stores each resource, and lets nobody write one before it has (apiserver/pkg/storageversion). */

const GROUP = 'internal.apiserver.k8s.io';
const RECONCILE_MS = 10 * 60_000;
const LEASE_POLL_MS = 100;

/** What this server says of one resource. */
export interface StorageVersionResource {
  group: string;
  resource: string;
  encodingVersion: string;
  decodableVersions: readonly string[];
  servedVersions: readonly string[];
}

/** Of all resources that are stored, in the order of their names. Custom resources are not recorded; resources that share their objects are one. */
export function recordedResources(versions: Iterable<ApiVersion>): StorageVersionResource[] {
  const found = new Map<string, { installed: InstalledResource; served: string[] }>();
  for (const { group, version, resources } of [...versions].toSorted((a, b) => b.versionPriority - a.versionPriority)) {
    for (const [plural, installed] of resources) {
      if (installed.isCustom || installed.storageVersionHash === '' || installed.definition.storage.group !== undefined) continue;
      const key = `${group} ${plural}`;
      const known = found.get(key);
      if (known) known.served.push(apiVersionOf(group, version));
      else found.set(key, { installed, served: [apiVersionOf(group, version)] });
    }
  }
  return [...found.values()]
    .map(({ installed: { definition }, served }) => {
      const { group, plural: resource, storage } = definition;
      const encodingVersion = apiVersionOf(group, storage.form?.version ?? definition.version);
      const shared = group === '' && resource === 'events' ? ['events.k8s.io/v1'] : [];
      const readable = readableVersions(group, resource) ?? [...new Set([...served, encodingVersion])];
      return { group, resource, encodingVersion, decodableVersions: [...readable, ...shared], servedVersions: served };
    })
    .toSorted((a, b) => (a.group === b.group ? compare(a.resource, b.resource) : compare(a.group, b.group)));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export class StorageVersionRecorder {
  readonly #client: Client;
  readonly #resources: readonly StorageVersionResource[];
  /** Alpha, and off where --runtime-config does not say otherwise: nothing can be recorded then, and nothing be written. */
  readonly #isServed: boolean;
  readonly #serverId = serverIdentity(hostname(), 'kube-apiserver');
  /** By `resource.group`: those that are not recorded yet, with what went wrong last. */
  readonly #pending: Map<string, Error | undefined>;

  constructor(client: Client, resources: readonly StorageVersionResource[]) {
    this.#client = client;
    this.#resources = resources;
    this.#isServed = resources.some(({ group }) => group === GROUP);
    this.#pending = new Map(resources.map((resource) => [nameOf(resource), undefined]));
    if (this.#pending.has('events')) this.#pending.set('events.events.k8s.io', undefined);
  }

  /** Resolves when all are recorded; looks after them until the signal. */
  async run(options: BootstrapControllerOptions): Promise<void> {
    await this.#whenAlive(options.signal);
    await keepDoing(() => this.#recordAll(options.now()), RECONCILE_MS, options);
    while (this.#pending.size > 0 && !options.signal.aborted) await delay(LEASE_POLL_MS, options.signal);
  }

  /** Why a resource may not be written yet, if it may not. */
  refusal(group: string, resource: string): string | undefined {
    const name = nameOf({ group, resource });
    if (this.#pending.size === 0 || !this.#pending.has(name)) return undefined;
    return `wait for storage version registration to complete for resource: ${name}, last seen error: ${this.#pending.get(name)?.message ?? '<nil>'}`;
  }

  get isComplete(): boolean {
    return this.#pending.size === 0;
  }

  /** What is recorded of servers that have no Lease is collected as rubbish. */
  async #whenAlive(signal: AbortSignal): Promise<void> {
    const leases = this.#client.resource('coordination.k8s.io', 'leases');
    while (!signal.aborted && (await leases.get('kube-system', this.#serverId)) === undefined) await delay(LEASE_POLL_MS, signal);
  }

  async #recordAll(now: Date): Promise<void> {
    const versions = this.#client.resource<StorageVersion>(GROUP, 'storageversions');
    let failure: Error | undefined;
    for (const resource of this.#resources) {
      const name = nameOf(resource);
      try {
        // Upstream's own client asks as any other does.
        if (!this.#isServed) throw new Error('the server could not find the requested resource');
        await this.#record(versions, resource, now);
        this.#pending.delete(name);
        if (name === 'events') this.#pending.delete('events.events.k8s.io');
      } catch (error) {
        failure = error as Error;
        if (this.#pending.has(name)) this.#pending.set(name, failure);
      }
    }
    if (failure) throw failure;
  }

  async #record(versions: ResourceClient<StorageVersion>, resource: StorageVersionResource, now: Date): Promise<void> {
    const { group, resource: plural, encodingVersion, decodableVersions, servedVersions } = resource;
    const own: ServerStorageVersion = {
      apiServerID: this.#serverId,
      encodingVersion,
      decodableVersions: [...decodableVersions],
      servedVersions: [...servedVersions],
    };
    const name = `${group || 'core'}.${plural}`;
    if ((await versions.get('', name)) === undefined) {
      const empty = { kind: 'StorageVersion', apiVersion: `${GROUP}/v1alpha1`, metadata: { name }, spec: {} };
      await versions.create('', empty as ApiObject as StorageVersion).catch((error: unknown) => {
        if (!isApiError(error, 'AlreadyExists')) throw error;
      });
    }
    await versions.update('', name, (object) => void (object.status = withServer(object.status ?? {}, own, object.metadata.generation, now)), 'status');
  }
}

const nameOf = ({ group, resource }: { group: string; resource: string }): string => (group === '' ? resource : `${resource}.${group}`);

/** What all servers agree on stands in the status too, and whether they do. */
function withServer(status: StorageVersionStatus, own: ServerStorageVersion, generation: number | undefined, now: Date): StorageVersionStatus {
  const before = status.storageVersions ?? [];
  const isKnown = before.some(({ apiServerID }) => apiServerID === own.apiServerID);
  const storageVersions = isKnown ? before.map((server) => (server.apiServerID === own.apiServerID ? own : server)) : [...before, own];
  const common = storageVersions.every(({ encodingVersion }) => encodingVersion === storageVersions[0]!.encodingVersion)
    ? storageVersions[0]!.encodingVersion!
    : undefined;
  const type = 'AllEncodingVersionsEqual';
  const former = status.conditions?.find((condition) => condition.type === type);
  const isSet = common !== undefined;
  const hasMoved =
    former?.status !== (isSet ? 'True' : 'False') || (isSet && status.commonEncodingVersion !== undefined && status.commonEncodingVersion !== common);
  const condition = {
    type,
    status: isSet ? 'True' : 'False',
    ...(generation && { observedGeneration: generation }),
    lastTransitionTime: former && !hasMoved ? former.lastTransitionTime! : now.toISOString().replace(/\.\d+Z$/, 'Z'),
    reason: isSet ? 'CommonEncodingVersionSet' : 'CommonEncodingVersionUnset',
    message: isSet ? 'Common encoding version set' : 'Common encoding version unset',
  };
  const others = (status.conditions ?? []).filter((other) => other.type !== type);
  return { storageVersions, ...(isSet && { commonEncodingVersion: common }), conditions: [...others, condition] };
}
