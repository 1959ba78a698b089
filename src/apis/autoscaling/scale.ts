import type { Subresource } from '../../registry/definition.ts';
import type { ApiObject } from '../../util/api-object.ts';
import { FieldErrors } from '../../util/field-errors.ts';
import { invalid } from '../../util/errors.ts';
import type { Scale } from '../facts/types/autoscaling-v1.ts';

interface Scalable extends ApiObject {
  spec: { replicas?: number };
  status: { replicas?: number };
}

/** `/scale` of whatever has replicas: one shape for all, autoscaling/v1. `selector` is the pods', as text. */
export const scaleSubresource = <T extends Scalable>(selector: (object: T) => string): Partial<Omit<Subresource<T>, 'schema'>> => ({
  read({ metadata: { name, namespace, uid, resourceVersion, creationTimestamp }, spec, status, ...object }) {
    const text = selector({ ...object, metadata: {}, spec, status } as unknown as T);
    return {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
      spec: { ...(spec.replicas && { replicas: spec.replicas }) },
      status: { replicas: status.replicas ?? 0, ...(text !== '' && { selector: text }) },
    } as Scale;
  },
  write(object, sent) {
    const scale = sent as Scale;
    const replicas = scale.spec?.replicas ?? 0;
    if (replicas < 0) throw negativeReplicas(scale, replicas);
    object.spec.replicas = replicas;
    // The client's view of the version is a precondition as it is for the object itself.
    if (scale.metadata.resourceVersion) object.metadata.resourceVersion = scale.metadata.resourceVersion;
    else delete object.metadata.resourceVersion;
    return object;
  },
});

function negativeReplicas(scale: Scale, replicas: number): Error {
  const errors = new FieldErrors();
  errors.at('spec', 'replicas').invalid(replicas, 'must be greater than or equal to 0');
  return invalid({ group: 'autoscaling', kind: 'Scale' }, scale.metadata.name ?? '', errors.list);
}
