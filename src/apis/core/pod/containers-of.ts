import type { FieldErrors } from '../../../api/field-errors.ts';
import type { Container, EphemeralContainer, PodSpec } from '../../facts/types/core-v1.ts';

/** An init container that goes on beside the others (KEP-753). */
export const isSidecar = ({ restartPolicy }: Pick<Container, 'restartPolicy'>): boolean => restartPolicy === 'Always';

export type AnyContainer = Container | EphemeralContainer;

/** In the order in which upstream visits them. */
export const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

export function containersOf({ initContainers, containers, ephemeralContainers }: PodSpec): readonly AnyContainer[] {
  if (!initContainers && !ephemeralContainers) return containers ?? [];
  return [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])];
}

/** Each container with its place; `errors` stands at the pod's spec. */
export function containersAt(spec: PodSpec, errors: FieldErrors): [AnyContainer, FieldErrors][] {
  const placed: [AnyContainer, FieldErrors][] = [];
  for (const list of CONTAINER_LISTS) spec[list]?.forEach((container, index) => placed.push([container, errors.at(list).index(index)]));
  return placed;
}
