import type { Column, Subresource, UpdateRules } from '../../registry/definition.ts';
import { validateMetadata } from '../../registry/metadata.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { ageSince } from '../../util/duration.ts';
import { conflict, invalid } from '../../api/errors.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { subdomainName } from '../../api/names.ts';
import type { Scale } from '../facts/types/autoscaling-v1.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { validateNonNegative } from '../validation/non-negative.ts';

interface Scalable extends ApiObject {
  spec: { replicas?: number };
  status: { replicas?: number };
}

const column = (name: string, type: Column['type'], cell: Column<Scalable>['cell']): Column<Scalable> => ({
  name,
  type,
  format: '',
  description: '',
  priority: 0,
  cell,
});

const COLUMNS: readonly Column<Scalable>[] = [
  column('Name', 'string', ({ metadata }) => metadata.name ?? ''),
  column('Desired', 'integer', ({ spec }) => spec.replicas ?? 0),
  column('Available', 'integer', ({ status }) => status.replicas ?? 0),
  column('Age', 'string', ({ metadata }, now) => ageSince(metadata.creationTimestamp, now)),
];

/**
 * `/scale` of whatever has replicas: one shape for all, autoscaling/v1. `resource` is named in errors (`deployments.apps`); `selector` is the pods', as
 * text; `update` are the rules of the object itself, which a change of its scale must keep.
 */
export const scaleSubresource = <T extends Scalable>(
  resource: string,
  selector: (object: T) => string,
  update: UpdateRules<T>,
): Partial<Omit<Subresource<T>, 'schema'>> => ({
  update,
  columns: COLUMNS,
  read(object) {
    const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
    return {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
      spec: { replicas: object.spec.replicas ?? 0 },
      status: { replicas: object.status.replicas ?? 0, selector: selector(object) },
    } as Scale;
  },
  write(object, sent) {
    const scale = sent as Scale;
    const { uid, resourceVersion } = scale.metadata;
    if (uid && uid !== object.metadata.uid) {
      const [plural, group = ''] = resource.split('.');
      throw conflict(
        { group, resource: `${plural}/scale` },
        object.metadata.name ?? '',
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${object.metadata.uid}`,
      );
    }
    object.spec.replicas = scale.spec?.replicas ?? 0;
    // The client's view of the version is a precondition as it is for the object itself.
    if (resourceVersion) object.metadata.resourceVersion = resourceVersion;
    else delete object.metadata.resourceVersion;
    return object;
  },
  validateSent: (sent, name) => validateScale(sent as Scale, name),
});

function validateScale(scale: Scale, name: string): void {
  const errors = new FieldErrors();
  validateMetadata(scale.metadata, true, subdomainName, errors.at('metadata'));
  validateFinalizerNames(scale.metadata, errors);
  validateNonNegative(scale.spec?.replicas, errors.at('spec', 'replicas'));
  if (!errors.isEmpty) throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, errors.list);
}
