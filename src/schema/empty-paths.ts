import { setKey } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/** A field or a key of a map, or an index of a list. */
type Step = string | number;

/**
 * Lists and maps that a client sent empty, by where they stand in its object. An empty one is stored as none, so decoding leaves it out; but upstream's
 * messages, and some of its rules, tell `[]` from none. Decoding adds to one of these, which then goes with the object (`Write.sentEmpty`).
 */
export class EmptyPaths {
  #fields: Map<string, 'list' | 'map'> | undefined;
  #below: Map<Step, EmptyPaths> | undefined;

  get isNone(): boolean {
    return this.#fields === undefined && this.#below === undefined;
  }

  /** `path` leads to the object or map whose field was empty. */
  add(path: readonly Step[], field: string, type: 'list' | 'map'): void {
    const at = path.reduce<EmptyPaths>((above, step) => above.#madeAt(step), this);
    (at.#fields ??= new Map()).set(field, type);
  }

  #madeAt(step: Step): EmptyPaths {
    let below = this.#below?.get(step);
    if (below === undefined) (this.#below ??= new Map()).set(step, (below = new EmptyPaths()));
    return below;
  }

  /** Whether this field of the object was sent empty. */
  has(field: string): boolean {
    return this.#fields?.has(field) ?? false;
  }

  /** Those below a path, by where they stand there. */
  at(...path: readonly Step[]): EmptyPaths {
    return path.reduce<EmptyPaths>((above, step) => above.#below?.get(step) ?? NOTHING_EMPTY, this);
  }

  /** Without those in a field of the object: it was replaced by what nobody sent. */
  without(...fields: readonly string[]): EmptyPaths {
    return this.#filtered((step) => !fields.includes(step as string));
  }

  /** Those in these fields of the object alone. */
  only(...fields: readonly string[]): EmptyPaths {
    return this.#filtered((step) => fields.includes(step as string));
  }

  #filtered(isKept: (step: Step) => boolean): EmptyPaths {
    if (this.isNone) return this;
    const kept = new EmptyPaths();
    kept.#fields = keptEntries(this.#fields, isKept);
    kept.#below = keptEntries(this.#below, isKept);
    return kept;
  }

  /** A copy of the value with what was sent empty in it, where there is nothing now; the value itself where that is nowhere. */
  restoredIn<T>(value: T): T {
    return this.isNone ? value : (this.#restoredIn(value as Json, (now) => now === undefined || now === null) as T);
  }

  /** The same for fields alone that are written even where there is none (as `null`): upstream tells them apart when it looks for changes. */
  restoredNullsIn<T>(value: T): T {
    return this.isNone ? value : (this.#restoredIn(value as Json, (now) => now === null) as T);
  }

  /** The objects of a value in which this field, or any, was sent empty. */
  objectsIn(value: Json, field?: string, found = new Set<object>()): Set<object> {
    if (typeof value !== 'object' || value === null) return found;
    if (field === undefined ? this.#fields !== undefined : this.has(field)) found.add(value);
    for (const [step, below] of this.#below ?? []) below.objectsIn((value as Record<Step, Json>)[step] ?? null, field, found);
    return found;
  }

  /** What has nothing to be restored in it is not copied. */
  #restoredIn(value: Json, isRestored: (now: Json | undefined) => boolean): Json {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return this.#restoredInItems(value, isRestored);
    let copy: JsonObject | undefined;
    for (const [step, below] of this.#below ?? []) {
      const now = Object.hasOwn(value, step) ? value[step] : undefined;
      const restored = now && below.#restoredIn(now, isRestored);
      if (restored !== now) setKey((copy ??= { ...value }), step as string, restored);
    }
    for (const [field, type] of this.#fields ?? []) {
      if (isRestored(Object.hasOwn(value, field) ? value[field] : undefined)) setKey((copy ??= { ...value }), field, type === 'list' ? [] : {});
    }
    return copy ?? value;
  }

  #restoredInItems(items: Json[], isRestored: (now: Json | undefined) => boolean): Json[] {
    let copy: Json[] | undefined;
    for (const [step, below] of this.#below ?? []) {
      const now = items[step as number];
      const restored = now && below.#restoredIn(now, isRestored);
      if (restored !== now) (copy ??= [...items])[step as number] = restored!;
    }
    return copy ?? items;
  }
}

/** Of most objects, and of those that no client sent. Nothing is added to it. */
export const NOTHING_EMPTY = new EmptyPaths();

function keptEntries<K extends Step, V>(entries: Map<K, V> | undefined, isKept: (step: Step) => boolean): Map<K, V> | undefined {
  const kept = [...(entries ?? [])].filter(([step]) => isKept(step));
  return kept.length === 0 ? undefined : new Map(kept);
}
