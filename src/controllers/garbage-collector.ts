import type { Client, Concerns, ResourceClient, ResourceIdentity } from '../client/client.ts';
import type { ApiObject, OwnerReference } from '../api/api-object.ts';
import { isApiError } from '../api/errors.ts';
import { equalJson } from '../encoding/json-equal.ts';
import { TimeSlice } from '../util/time-slice.ts';
import { type Controller, type ControllerOptions, FIELD_MANAGER } from './controller.ts';
import { ReportBudget, invalidNamespaceEvent } from './owner-events.ts';
import { type Dependent, OwnershipGraph, type ObjectIdentity } from './ownership-graph.ts';
import { WorkQueue } from './work-queue.ts';
import { delay } from '../util/delay.ts';
import { onAbort } from '../util/on-abort.ts';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';
const WORKERS = 20;
const LOOK_AGAIN_MS = 2_000;
/** Of kinds that cannot be watched. */
const LOOK_AGAIN_UNWATCHED_MS = 60_000;
/** A kind that cannot be read, since the store is away or one of its objects is broken, is tried again so much later. */
const FOLLOW_RETRY_MS = 30_000;

/** Events come and go too fast, and own nothing (garbagecollector.DefaultIgnoredResources). */
const isCollected = ({ plural, verbs }: ResourceIdentity): boolean => plural !== 'events' && ['delete', 'list', 'watch'].every((verb) => verbs.includes(verb));

const OWNED = Buffer.from('"ownerReferences":[');
const DELETED = Buffer.from('"deletionTimestamp":"');
/** Only objects that have owners, and such as are being deleted, are decoded. */
const concernsOwnership: Concerns = (json) => json.includes(OWNED) || json.includes(DELETED);

/**
 * Deletes what has lost its owners, and sees deletions in the foreground and such that orphan through (pkg/controller/garbagecollector). Where upstream keeps
 * every object in its graph and guesses at owners that it has not yet seen, this keeps dependents alone: an owner can be looked up at any time.
 */
export const collectGarbage: Controller = async (client, options) => new GarbageCollector(client, options).start();

class GarbageCollector {
  readonly #client: Client;
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  readonly #graph = new OwnershipGraph();
  /** Being deleted in the foreground: they go when no dependent that blocks is left. */
  readonly #awaiting = new Map<string, ObjectIdentity>();
  /** Being deleted without their dependents, which are to forget them first. */
  readonly #orphaning = new Map<string, ObjectIdentity>();
  /** Whose owners have not been looked for since they were named. */
  readonly #unverified = new Set<string>();
  /** Whose owner is of a kind that is not served: they are looked at again when a kind comes. */
  readonly #unresolved = new Set<string>();
  readonly #reports = new ReportBudget();
  /** By `apiVersion kind`. */
  #kinds = new Map<string, ResourceIdentity>();
  /** Ends the following of a resource. */
  readonly #followed = new Map<ResourceIdentity, () => void>();
  /** Settles when the graph has all that is there: nothing may be concluded before. */
  #loaded: Promise<unknown> = Promise.resolve();

  constructor(client: Client, options: ControllerOptions) {
    this.#client = client;
    this.#options = options;
    this.#queue = new WorkQueue((uid) => this.#process(uid), { ...options, name: 'garbage_collector_attempt_to_delete', workers: WORKERS });
  }

  /** Nobody waits until all that is there is known. */
  start(): void {
    const stop = this.#client.onResourcesChange(() => this.#followAll());
    onAbort(this.#options.signal, () => {
      stop();
      for (const end of this.#followed.values()) end();
    });
    this.#followAll();
  }

  #followAll(): void {
    const resources = this.#client.resources();
    this.#kinds = new Map(resources.flatMap((resource) => resource.apiVersions.map((apiVersion) => [`${apiVersion} ${resource.kind}`, resource])));
    const current = new Set(resources.filter(isCollected));
    for (const [resource, end] of this.#followed) {
      if (current.has(resource)) continue;
      end();
      this.#followed.delete(resource);
    }
    const added = [...current].filter((resource) => !this.#followed.has(resource)).map((resource) => ({ resource, following: this.#follow(resource) }));
    // Another server may be away for as long as it likes: nothing of ours waits for it.
    this.#loaded = Promise.all([this.#loaded, ...added.filter(({ resource }) => !resource.isRemote).map(({ following }) => following)]);
    for (const uid of this.#unresolved) this.#queue.add(uid);
    this.#unresolved.clear();
  }

  async #follow(resource: ResourceIdentity): Promise<void> {
    let isFollowed = true;
    let stop = (): void => {};
    this.#followed.set(resource, () => {
      isFollowed = false;
      stop();
    });
    const attempt = async (): Promise<void> => {
      try {
        const { informer } = this.#client.resource(resource.group, resource.plural);
        await informer.synced;
        if (!isFollowed) return;
        stop = informer.onChange((object, old) => (object ? this.#seen(resource, object) : this.#gone(old!)), concernsOwnership);
        await informer.scan((object) => this.#seen(resource, object), concernsOwnership, this.#options.signal);
      } catch (error) {
        stop();
        if (!isFollowed) return;
        this.#options.report(error as Error);
        void delay(FOLLOW_RETRY_MS, this.#options.signal).then(() => (isFollowed ? attempt() : undefined));
      }
    };
    await attempt();
  }

  #seen(resource: ResourceIdentity, { metadata }: ApiObject): void {
    const { namespace = '', name = '', uid = '', ownerReferences: owners = [], finalizers = [] } = metadata;
    const isBeingDeleted = metadata.deletionTimestamp !== undefined;
    const place: ObjectIdentity = { resource, namespace, name, uid };
    this.#seeOwners({ ...place, owners, isBeingDeleted });
    const isOrphaning = isBeingDeleted && finalizers.includes(ORPHAN);
    const isAwaiting = isBeingDeleted && !isOrphaning && finalizers.includes(FOREGROUND);
    if (keepIn(this.#orphaning, place, isOrphaning)) this.#queue.add(uid);
    if (!keepIn(this.#awaiting, place, isAwaiting)) return;
    this.#queue.add(uid);
    this.#enqueueDependents(uid);
  }

  #seeOwners(dependent: Dependent): void {
    const { uid, owners } = dependent;
    const before = this.#graph.put(dependent)?.owners ?? [];
    if (equalJson(before, owners)) return;
    for (const owner of before) {
      if (this.#awaiting.has(owner.uid) && !this.#graph.isBlockedBy(owner.uid, uid)) this.#queue.add(owner.uid);
    }
    const known = new Map(before.map((owner) => [owner.uid, owner]));
    if (owners.every((owner) => isSameReference(owner, known.get(owner.uid)))) return;
    this.#unverified.add(uid);
    this.#queue.add(uid);
  }

  #gone({ metadata: { uid = '' } }: ApiObject): void {
    const dependent = this.#graph.remove(uid);
    for (const records of [this.#orphaning, this.#awaiting, this.#unverified, this.#unresolved]) records.delete(uid);
    this.#enqueueDependents(uid);
    for (const owner of dependent?.owners ?? []) if (this.#awaiting.has(owner.uid)) this.#queue.add(owner.uid);
  }

  #enqueueDependents(uid: string): void {
    if (!this.#graph.hasDependents(uid)) return;
    for (const dependent of this.#graph.dependentsOf(uid)) this.#queue.add(dependent.uid);
  }

  async #process(uid: string): Promise<void> {
    await this.#loaded;
    const orphaning = this.#orphaning.get(uid);
    if (orphaning) return this.#orphan(orphaning);
    const awaiting = this.#awaiting.get(uid);
    if (awaiting) return this.#awaitDependents(awaiting);
    const dependent = this.#graph.get(uid);
    const isNew = this.#unverified.delete(uid);
    if (!dependent || dependent.isBeingDeleted || this.#hasItsOwners(dependent)) return;
    await this.#collect(dependent, isNew);
  }

  async #orphan(owner: ObjectIdentity): Promise<void> {
    await Promise.all(this.#graph.dependentsOf(owner.uid).map((dependent) => this.#forgetOwners(dependent, new Set([owner.uid]))));
    await this.#removeFinalizer(owner, ORPHAN);
  }

  async #awaitDependents(owner: ObjectIdentity): Promise<void> {
    const blocking = this.#graph.blockingDependentsOf(owner.uid);
    if (blocking.length === 0) return this.#removeFinalizer(owner, FOREGROUND);
    for (const { uid } of blocking) if (!this.#awaiting.has(uid)) this.#queue.add(uid);
  }

  /** Whether all owners are there and mean to stay, as far as this process knows: so it is for most, and costs nothing. */
  #hasItsOwners({ namespace, owners }: Dependent): boolean {
    return owners.every(({ apiVersion, kind, name, uid }) => {
      const resource = this.#kinds.get(`${apiVersion} ${kind}`);
      if (!resource || (resource.namespaced && namespace === '') || this.#awaiting.has(uid)) return false;
      return this.#client.resource(resource.group, resource.plural).informer.get(resource.namespaced ? namespace : '', name)?.metadata.uid === uid;
    });
  }

  /** Deletes the object if it has lost every owner (attemptToDeleteItem). */
  async #collect(dependent: Dependent, isNew: boolean): Promise<void> {
    const latest = await this.#clientOf(dependent).get(dependent.namespace, dependent.name);
    const references = latest?.metadata.uid === dependent.uid ? (latest.metadata.ownerReferences ?? []) : [];
    if (!latest || references.length === 0) return;
    const owners = await this.#classify(dependent, references);
    if (!owners) return;
    if (isNew) await this.#reportForeign(dependent, owners.dangling);
    const lost = [...owners.dangling, ...owners.awaiting];
    if (lost.length < references.length) {
      if (lost.length > 0) await this.#forgetOwners(dependent, new Set(lost.map(({ uid }) => uid)));
    } else if (owners.awaiting.length > 0 && this.#graph.hasDependents(dependent.uid)) {
      const isInCircle = this.#graph.dependentsOf(dependent.uid).some(({ uid }) => this.#awaiting.has(uid));
      if (isInCircle && references.some(({ blockOwnerDeletion }) => blockOwnerDeletion)) await this.#unblock(dependent);
      else await this.#delete(dependent, latest, 'Foreground');
    } else await this.#delete(dependent, latest, policyOf(latest));
  }

  /** Undefined where it cannot be told, and the object must stay. */
  async #classify(dependent: Dependent, references: readonly OwnerReference[]): Promise<Owners | undefined> {
    const owners: Owners = { dangling: [], awaiting: [] };
    // Owners are mostly in the cache, and then nothing is waited for: thousands of them would keep the thread.
    const slice = new TimeSlice();
    for (const reference of references) {
      if (slice.isSpent) await slice.next();
      const kind = this.#kinds.get(`${reference.apiVersion} ${reference.kind}`);
      if (!kind) {
        this.#unresolved.add(dependent.uid);
        return undefined;
      }
      // What belongs to no namespace cannot be owned by something in one.
      if (kind.namespaced && dependent.namespace === '') return undefined;
      const found = await this.#client.resource(kind.group, kind.plural).get(kind.namespaced ? dependent.namespace : '', reference.name);
      if (found && kind.isRemote) this.#lookAgain(dependent, kind, found);
      if (found?.metadata.uid !== reference.uid) owners.dangling.push(reference);
      else if (found.metadata.deletionTimestamp && found.metadata.finalizers?.includes(FOREGROUND)) owners.awaiting.push(reference);
    }
    return owners;
  }

  /** An owner that another server has, and that our view of it does not show yet: nobody would tell us of its end. */
  #lookAgain(dependent: Dependent, kind: ResourceIdentity, { metadata: { namespace = '', name = '', uid } }: ApiObject): void {
    if (this.#client.resource(kind.group, kind.plural).informer.get(namespace, name)?.metadata.uid === uid) return;
    this.#queue.addAfter(dependent.uid, isCollected(kind) ? LOOK_AGAIN_MS : LOOK_AGAIN_UNWATCHED_MS);
  }

  /** An owner in another namespace is none; whoever named it should hear of that. */
  async #reportForeign(dependent: Dependent, dangling: readonly OwnerReference[]): Promise<void> {
    const namespaces = this.#client.resource('', 'namespaces').informer;
    for (const reference of dangling) {
      const kind = this.#kinds.get(`${reference.apiVersion} ${reference.kind}`)!;
      if (!kind.namespaced || !this.#reports.take(this.#options.now())) continue;
      const { informer } = this.#client.resource(kind.group, kind.plural);
      const isElsewhere = namespaces.list('').some(({ metadata }) => informer.get(metadata.name!, reference.name)?.metadata.uid === reference.uid);
      if (!isElsewhere) continue;
      const event = invalidNamespaceEvent(dependent, reference, this.#options.now());
      await this.#client
        .resource('', 'events')
        .create(event.metadata.namespace!, event)
        .catch((error: unknown) => this.#options.report(error as Error));
    }
  }

  async #delete({ uid, namespace, name, ...place }: Dependent, validated: ApiObject, propagationPolicy: Policy): Promise<void> {
    const resource = this.#clientOf(place);
    const { resourceVersion = '', ownerReferences } = validated.metadata;
    try {
      await resource.delete(namespace, name, { propagationPolicy, preconditions: { uid, resourceVersion } });
    } catch (error) {
      if (isApiError(error, 'NotFound')) return;
      if (!isApiError(error, 'Conflict')) throw error;
      const live = await resource.get(namespace, name);
      if (live?.metadata.uid !== uid) return;
      // Changes of other fields must not keep it alive; a change of owners is looked at anew.
      if (!equalJson(live.metadata.ownerReferences, ownerReferences)) this.#queue.add(uid);
      else await ignoringNotFound(resource.delete(namespace, name, { propagationPolicy, preconditions: { uid } }));
    }
  }

  #forgetOwners(dependent: Dependent, uids: ReadonlySet<string>): Promise<void> {
    return this.#amend(dependent, ({ metadata }) => {
      const kept = (metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid));
      if (kept.length === (metadata.ownerReferences ?? []).length) return false;
      metadata.ownerReferences = kept;
      return true;
    });
  }

  /** So that a circle of objects that wait for each other comes to an end. The change has the object looked at again. */
  #unblock(dependent: Dependent): Promise<void> {
    return this.#amend(dependent, ({ metadata }) => {
      for (const reference of metadata.ownerReferences ?? []) if (reference.blockOwnerDeletion) reference.blockOwnerDeletion = false;
    });
  }

  #removeFinalizer(place: ObjectIdentity, finalizer: string): Promise<void> {
    return this.#amend(place, ({ metadata }) => {
      if (!metadata.finalizers?.includes(finalizer)) return false;
      metadata.finalizers = metadata.finalizers.filter((other) => other !== finalizer);
      return true;
    });
  }

  /** Changes the object if it is still the one that is meant. */
  async #amend({ uid, namespace, name, ...place }: ObjectIdentity, change: (object: ApiObject) => boolean | void): Promise<void> {
    await ignoringNotFound(this.#clientOf(place).update(namespace, name, (object) => object.metadata.uid === uid && change(object)));
  }

  #clientOf({ resource: { group, plural } }: Pick<ObjectIdentity, 'resource'>): ResourceClient {
    return this.#client.resource(group, plural, FIELD_MANAGER);
  }
}

/** References to owners that are not there, and to such as wait for their dependents to go; all others hold. */
interface Owners {
  dangling: OwnerReference[];
  awaiting: OwnerReference[];
}

const isSameReference = (a: OwnerReference, b: OwnerReference | undefined): boolean =>
  a.apiVersion === b?.apiVersion &&
  a.kind === b.kind &&
  a.name === b.name &&
  a.uid === b.uid &&
  a.controller === b.controller &&
  a.blockOwnerDeletion === b.blockOwnerDeletion;

type Policy = 'Orphan' | 'Background' | 'Foreground';

/** What the object was marked with counts. */
function policyOf({ metadata: { finalizers = [] } }: ApiObject): Policy {
  if (finalizers.includes(ORPHAN)) return 'Orphan';
  return finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background';
}

/** Answers whether it was not in before and now is. */
function keepIn(places: Map<string, ObjectIdentity>, place: ObjectIdentity, isIn: boolean): boolean {
  const wasIn = places.has(place.uid);
  if (isIn) places.set(place.uid, place);
  else places.delete(place.uid);
  return isIn && !wasIn;
}

async function ignoringNotFound(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}
