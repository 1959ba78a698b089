import type { FieldErrors } from '../../../util/field-errors.ts';
import type { Container, EphemeralContainer, PodSpec } from '../../facts/types/core-v1.ts';

/** An init container that goes on beside the others (KEP-753). */
export const isSidecar = ({ restartPolicy }: Pick<Container, 'restartPolicy'>): boolean => restartPolicy === 'Always';

export type AnyContainer = Container | EphemeralContainer;

/** In the order in which upstream visits them. */
export const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

export function* containersOf(spec: PodSpec): Generator<AnyContainer> {
  for (const list of CONTAINER_LISTS) yield* spec[list] ?? [];
}

/** Each container with its place; `errors` stands at the pod's spec. */
export function* containersAt(spec: PodSpec, errors: FieldErrors): Generator<[AnyContainer, FieldErrors]> {
  for (const list of CONTAINER_LISTS) {
    for (const [index, container] of (spec[list] ?? []).entries()) yield [container, errors.at(list).index(index)];
  }
}
