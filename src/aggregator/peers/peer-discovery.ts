import type { Lease } from '../../apis/facts/types/coordination-v1.ts';
import type { Concerns, Informer } from '../../client/client.ts';
import type { HostAndPort } from '../../client/service-address.ts';
import { WorkQueue } from '../../controllers/work-queue.ts';
import type { QueueMetricsOf } from '../../controllers/work-queue-metrics.ts';
import { parseLongJson } from '../../encoding/json.ts';
import type { RequestInfo } from '../../endpoints/request.ts';
import type { GroupDiscovery, PeerGroups } from '../../server/discovery/merge-peers.ts';
import type { Fetched } from '../../serving/proxy/fetch.ts';
import { groupsInList } from '../discovery-entry.ts';
import type { ExcludedVersions } from './excluded-versions.ts';

const NAMESPACE = 'kube-system';
const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';
const IDENTITY_JSON = Buffer.from(`"${IDENTITY_LABEL}"`);
const concernsIdentity: Concerns = (json) => json.includes(IDENTITY_JSON);
const COMPONENT = 'kube-apiserver';

export interface PeerDiscoveryOptions {
  /** This server's own name among them. */
  identity: string;
  excluded: Pick<ExcludedVersions, 'has'>;
  /** Where a server says that it is reached; undefined where it says nothing, or no longer. */
  addressOf(identity: string): Promise<HostAndPort | undefined>;
  /** Asks a server what it serves, itself: `/api` or `/apis`. */
  fetch(address: HostAndPort, path: string): Promise<Fetched>;
  /** By upstream's names of what went wrong. */
  onError(type: 'hostport_resolution' | 'fetch_discovery'): void;
  signal: AbortSignal;
  report(error: Error): void;
  queueMetrics?: QueueMetricsOf;
}

interface Filtered {
  groups: PeerGroups;
  /** Identities by group, version and resource. */
  serving: ReadonlyMap<string, readonly string[]>;
}

const NOTHING: Filtered = { groups: new Map(), serving: new Map() };

/**
 * What the other API servers on the same store serve (apiserver/pkg/util/peerproxy/peer_discovery.go). Their identity leases tell of them. Each is asked
 * when it comes and when it has started anew; what it serves by itself does not change meanwhile.
 */
export class PeerDiscovery {
  readonly #options: PeerDiscoveryOptions;
  readonly #queue: WorkQueue;
  readonly #byPeer = new Map<string, readonly GroupDiscovery[]>();
  #leases: Informer<Lease> | undefined;
  #filtered: Filtered | undefined = NOTHING;
  #reported = '';

  constructor(options: PeerDiscoveryOptions) {
    this.#options = options;
    this.#queue = new WorkQueue((name) => this.#sync(name), { ...options, name: 'peer-discovery-cache-sync', report: (error) => this.#reportNews(error) });
  }

  /** Follows the leases, which must have been read. Returns the way to stop. */
  start(leases: Informer<Lease>): () => void {
    this.#leases = leases;
    const stop = leases.onChange((lease, old) => {
      if (lease === undefined || holderOf(lease) !== holderOf(old)) this.#queue.add((lease ?? old)!.metadata.name!);
    }, concernsIdentity);
    for (const { metadata } of leases.list(NAMESPACE)) this.#queue.add(metadata.name!);
    return stop;
  }

  /** A server that has just come says where it is a little later, and one that is gone is asked for an hour. */
  #reportNews(error: Error): void {
    if (error.message !== this.#reported) this.#options.report(error);
    this.#reported = error.message;
  }

  get isEmpty(): boolean {
    return this.#byPeer.size === 0;
  }

  /** For the merged document; the same map until something in it has changed. */
  groups(): PeerGroups {
    return this.#all().groups;
  }

  /** Who serves what a request is about. */
  serving({ apiGroup, apiVersion, resource }: RequestInfo): readonly string[] {
    return this.#all().serving.get(`${apiGroup}/${apiVersion}/${resource}`) ?? [];
  }

  /** After a change of what is excluded. */
  invalidate(): void {
    this.#filtered = undefined;
  }

  #isPeer({ metadata: { namespace, name, labels }, spec }: Lease): boolean {
    return namespace === NAMESPACE && name !== this.#options.identity && labels?.[IDENTITY_LABEL] === COMPONENT && spec.holderIdentity !== undefined;
  }

  async #sync(name: string): Promise<void> {
    const lease = this.#leases!.get(NAMESPACE, name);
    if (lease === undefined || !this.#isPeer(lease)) return this.#set(name, undefined);
    const address = await this.#options.addressOf(name);
    if (address === undefined) {
      this.#options.onError('hostport_resolution');
      this.#set(name, undefined);
      throw new Error(`the API server ${name} has a lease, and does not say where it is reached`);
    }
    const [core, groups] = await Promise.all([this.#fetch(address, '/api'), this.#fetch(address, '/apis')]);
    const all = [...(core instanceof Error ? [] : core), ...(groups instanceof Error ? [] : groups)];
    this.#set(name, all.length > 0 ? all : undefined);
    const failure = [core, groups].find((list) => list instanceof Error);
    if (failure) throw new Error(`the API server ${name} does not say what it serves: ${failure.message}`, { cause: failure });
  }

  /** What comes counts, though the other half may fail. */
  async #fetch(address: HostAndPort, path: string): Promise<GroupDiscovery[] | Error> {
    try {
      const { status, body } = await this.#options.fetch(address, path);
      if (status !== 200) throw new Error(`discovery request failed with status: ${status}`);
      return groupsInList(await parseLongJson(body));
    } catch (error) {
      this.#options.onError('fetch_discovery');
      return error as Error;
    }
  }

  #set(name: string, groups: readonly GroupDiscovery[] | undefined): void {
    if (groups === undefined && !this.#byPeer.has(name)) return;
    if (groups === undefined) this.#byPeer.delete(name);
    else this.#byPeer.set(name, groups);
    this.invalidate();
  }

  #all(): Filtered {
    return (this.#filtered ??= this.#filter());
  }

  #filter(): Filtered {
    const groups = new Map<string, readonly GroupDiscovery[]>();
    const serving = new Map<string, string[]>();
    for (const [peer, list] of this.#byPeer) {
      const kept = list.map((group) => this.#withoutExcluded(group)).filter(({ versions }) => versions.length > 0);
      // The core group is not in the document of `/apis`.
      const named = kept.filter(({ metadata }) => metadata.name !== undefined);
      groups.set(peer, named);
      // A peer may say the same twice.
      for (const key of new Set(kept.flatMap(resourceKeys))) serving.set(key, [...(serving.get(key) ?? []), peer]);
    }
    return { groups, serving };
  }

  #withoutExcluded(group: GroupDiscovery): GroupDiscovery {
    const versions = group.versions.filter(({ version }) => !this.#options.excluded.has(group.metadata.name ?? '', version));
    return versions.length === group.versions.length ? group : { ...group, versions };
  }
}

const holderOf = (lease: Lease | undefined): string | undefined => lease?.spec.holderIdentity;

const resourceKeys = ({ metadata: { name = '' }, versions }: GroupDiscovery): string[] =>
  versions.flatMap(({ version, resources = [] }) => resources.map(({ resource }) => `${name}/${version}/${resource}`));
