import type { Informer } from '../client/client.ts';
import type { ApiObject } from '../api/api-object.ts';

/** Of the classes that one of the annotations marks as the default, the newest; of equally new ones the first by name. */
export function defaultClass(classes: Informer, annotations: readonly string[]): ApiObject | undefined {
  return classes
    .list('')
    .filter(({ metadata }) => annotations.some((annotation) => metadata.annotations?.[annotation] === 'true'))
    .toSorted(newestFirst)[0];
}

function newestFirst(a: ApiObject, b: ApiObject): number {
  const [createdA, createdB] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (createdA !== createdB) return createdA > createdB ? -1 : 1;
  return a.metadata.name! < b.metadata.name! ? -1 : 1;
}
