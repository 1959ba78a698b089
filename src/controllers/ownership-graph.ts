import type { ResourceIdentity } from '../client/client.ts';
import type { OwnerReference } from '../api/api-object.ts';

/** Where an object is found. */
export interface ObjectIdentity {
  resource: ResourceIdentity;
  namespace: string;
  name: string;
  uid: string;
}

/** An object that says who owns it. */
export interface Dependent extends ObjectIdentity {
  owners: readonly OwnerReference[];
  isBeingDeleted: boolean;
}

/** Who depends on whom, by uid. Objects without owners are not in it: an owner is looked up where a reference says it is. */
export class OwnershipGraph {
  readonly #dependents = new Map<string, Dependent>();
  /** With whether the owner may not go before the dependent does. */
  readonly #byOwner = new Map<string, Map<Dependent, boolean>>();

  get(uid: string): Dependent | undefined {
    return this.#dependents.get(uid);
  }

  /** A copy: what is done with them may change the graph. */
  dependentsOf(uid: string): Dependent[] {
    return [...(this.#byOwner.get(uid)?.keys() ?? [])];
  }

  /** Those that the owner must wait for when it is deleted in the foreground. Known ahead: a dependent may name thousands of owners. */
  blockingDependentsOf(uid: string): Dependent[] {
    return [...(this.#byOwner.get(uid) ?? [])].flatMap(([dependent, isBlocking]) => (isBlocking ? [dependent] : []));
  }

  isBlockedBy(ownerUid: string, dependentUid: string): boolean {
    const dependent = this.#dependents.get(dependentUid);
    return dependent !== undefined && this.#byOwner.get(ownerUid)?.get(dependent) === true;
  }

  hasDependents(uid: string): boolean {
    return this.#byOwner.has(uid);
  }

  /** Takes the place of what was known of the object, which is answered. */
  put(dependent: Dependent): Dependent | undefined {
    const previous = this.remove(dependent.uid);
    if (dependent.owners.length === 0) return previous;
    this.#dependents.set(dependent.uid, dependent);
    for (const { uid, blockOwnerDeletion = false } of dependent.owners) {
      const siblings = this.#byOwner.get(uid) ?? new Map<Dependent, boolean>();
      this.#byOwner.set(uid, siblings.set(dependent, blockOwnerDeletion || siblings.get(dependent) === true));
    }
    return previous;
  }

  remove(uid: string): Dependent | undefined {
    const dependent = this.#dependents.get(uid);
    if (!dependent) return undefined;
    this.#dependents.delete(uid);
    for (const owner of dependent.owners) {
      const siblings = this.#byOwner.get(owner.uid);
      siblings?.delete(dependent);
      if (siblings?.size === 0) this.#byOwner.delete(owner.uid);
    }
    return dependent;
  }
}
