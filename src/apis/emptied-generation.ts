import type { Change } from '../registry/write.ts';

/**
 * For kinds whose strategy upstream compares with reflect.DeepEqual: a list or map that was sent empty differs from the one that is not stored, so that
 * every update which sends one is a new generation. `field` is what is compared.
 */
export function countEmptied({ object, old, sentEmpty }: Change, field: string): void {
  if (sentEmpty.only(field).restoredIn(object) === object) return;
  object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}
