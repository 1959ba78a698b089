import { warningEvent } from '../apis/core/warning-event.ts';
import type { Event } from '../apis/facts/types/core-v1.ts';
import { type OwnerReference, apiVersionOf } from '../api/api-object.ts';
import type { ObjectIdentity } from './ownership-graph.ts';

const COMPONENT = 'garbage-collector-controller';

/** Tells of an owner that is in another namespace than the object that names it. */
export function invalidNamespaceEvent({ resource, namespace, name, uid }: ObjectIdentity, owner: OwnerReference, now: Date): Event {
  const identity = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`;
  return warningEvent({
    about: { kind: resource.kind, apiVersion: apiVersionOf(resource.group, resource.version), namespace, name, uid },
    component: COMPONENT,
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef ${identity} does not exist in namespace ${JSON.stringify(namespace)}`,
    now,
  });
}

const MAX_REPORTS = 25;

/** A report costs a look into every namespace, and many objects may have lost their owner at once: so many at a time, and one more a second. */
export class ReportBudget {
  #left = MAX_REPORTS;
  #filledMs = 0;

  take(now: Date): boolean {
    this.#left = Math.min(MAX_REPORTS, this.#left + Math.max(0, now.getTime() - this.#filledMs) / 1000);
    this.#filledMs = now.getTime();
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
