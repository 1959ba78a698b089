import type { LabelSelector } from '../../api/label-selector.ts';
import type { MatchFacts, ResourceMatcher } from './matching.ts';

const REQUIRING = new Set(['=', '==', 'in']);

/** Labels of which one must be there for a selector to match, as `key=value`; undefined where there is no such rule. */
function requiredLabels({ requirements }: LabelSelector): readonly string[] | undefined {
  const found = requirements.find(({ operator }) => REQUIRING.has(operator));
  return found?.values.map((value) => `${found.key}=${value}`);
}

type Labels = Record<string, string> | undefined;

/** What matches requests, in order, found by labels that the request's object or its namespace must have: hundreds that are about others cost nothing. */
export class LabelIndex<H extends { readonly matcher: ResourceMatcher }> {
  readonly #all: readonly H[];
  /** Places in `all`. */
  readonly #unlabelled: number[] = [];
  readonly #byObject = new Map<string, number[]>();
  readonly #byNamespace = new Map<string, number[]>();

  constructor(all: readonly H[]) {
    this.#all = all;
    for (const [place, { matcher }] of all.entries()) this.#add(place, matcher);
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  #add(place: number, { objects, namespaces }: ResourceMatcher): void {
    const ofObject = requiredLabels(objects);
    const ofNamespace = ofObject ? undefined : requiredLabels(namespaces);
    if (!ofObject && !ofNamespace) this.#unlabelled.push(place);
    for (const label of ofObject ?? []) append(this.#byObject, label, place);
    for (const label of ofNamespace ?? []) append(this.#byNamespace, label, place);
  }

  /** Some may match that do not; none is left out that does, nor one that cannot tell because the namespace is missing. */
  candidates(facts: MatchFacts): readonly H[] {
    if (this.#unlabelled.length === this.#all.length) return this.#all;
    const places = new Set(this.#unlabelled);
    const { object, oldObject } = facts.attributes;
    addLabelled(this.#byObject, object?.metadata?.labels, places);
    addLabelled(this.#byObject, oldObject?.metadata?.labels, places);
    if (this.#byNamespace.size > 0) this.#addOfNamespace(facts, places);
    if (places.size <= this.#unlabelled.length) return this.#unlabelled.map((place) => this.#all[place]!);
    return [...places].toSorted((a, b) => a - b).map((place) => this.#all[place]!);
  }

  #addOfNamespace(facts: MatchFacts, places: Set<number>): void {
    const namespace = facts.isClusterWide ? undefined : facts.namespace();
    if (namespace && !(namespace instanceof Error)) addLabelled(this.#byNamespace, namespace.labels, places);
    else for (const concerned of this.#byNamespace.values()) for (const place of concerned) places.add(place);
  }
}

function append(map: Map<string, number[]>, label: string, place: number): void {
  const places = map.get(label);
  if (places) places.push(place);
  else map.set(label, [place]);
}

function addLabelled(map: ReadonlyMap<string, readonly number[]>, labels: Labels, places: Set<number>): void {
  if (map.size === 0 || labels === undefined) return;
  for (const key of Object.keys(labels)) for (const place of map.get(`${key}=${labels[key]!}`) ?? []) places.add(place);
}
