import type { RequestInfo } from '../endpoints/request.ts';

/** What a watch is of. Nobody but the kubelets watches pods by node, so those watches are left out: they hear of few changes. */
const INDEXED_FIELD = new Map([['pods', 'spec.nodeName']]);

/** Counts watches by what they see, to know how many a write will wake (apiserver/pkg/util/flowcontrol/watch_tracker.go). */
export class WatchTracker {
  readonly #counts = new Map<string, number>();

  /** Returns the way to forget it. `fieldValue` tells what the watch's field selector requires of a field. */
  add(info: RequestInfo, fieldValue: (field: string) => string | undefined): () => void {
    const indexed = INDEXED_FIELD.get(info.resource);
    if (indexed !== undefined && (fieldValue(indexed) ?? '') !== '') return () => {};
    const key = keyOf(info.apiGroup, info.resource, info.namespace, info.name);
    this.#change(key, 1);
    return () => this.#change(key, -1);
  }

  /** Watches of the whole resource, of its namespace, and of the object itself. */
  interestedIn({ apiGroup, resource, namespace, name }: RequestInfo): number {
    if (this.#counts.size === 0) return 0;
    let count = this.#countOf(apiGroup, resource, '', '');
    if (namespace !== '') count += this.#countOf(apiGroup, resource, namespace, '');
    if (name !== '') count += this.#countOf(apiGroup, resource, namespace, name);
    return count;
  }

  #countOf(group: string, resource: string, namespace: string, name: string): number {
    return this.#counts.get(keyOf(group, resource, namespace, name)) ?? 0;
  }

  #change(key: string, by: number): void {
    const count = (this.#counts.get(key) ?? 0) + by;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }
}

/** No part can hold a slash but the name of a path that is no object's. */
const keyOf = (group: string, resource: string, namespace: string, name: string): string => `${group}/${resource}/${namespace}/${name}`;
