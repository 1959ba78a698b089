import type { Change } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { labelName, qualifiedNameErrors } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { Namespace } from '../facts/types/core-v1.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';

/** The finalizer of every namespace, taken off by whoever has removed what is in it. */
const KUBERNETES = 'kubernetes';
const STANDARD_FINALIZERS = new Set([KUBERNETES, 'orphan', 'foregroundDeletion']);
const NAME_LABEL = 'kubernetes.io/metadata.name';

/**
 * A scope for names. Deleted in two phases: DELETE marks it Terminating, and it goes when its `spec.finalizers` are empty, which is written through
 * /finalize by the controller that has emptied it.
 */
export const namespaces = defineResource<Namespace>('v1/namespaces', {
  validatesFinalizerNames: true,
  naming: { errors: labelName },

  /** So that selectors can name a namespace. A generated name is not known yet: `prepareForCreate` sees it. */
  default(namespace) {
    namespace.status = { phase: 'Active', ...namespace.status };
    if (namespace.metadata.name) labelWithName(namespace);
  },
  prepareForCreate({ object: namespace }) {
    const finalizers = namespace.spec?.finalizers ?? [];
    namespace.spec = { ...namespace.spec, finalizers: finalizers.includes(KUBERNETES) ? finalizers : [...finalizers, KUBERNETES] };
    namespace.status = { phase: 'Active' };
    // Upstream does this once a generated name is found valid: a label that is not is not told of.
    if (labelName(namespace.metadata.name ?? '', false).length === 0) labelWithName(namespace);
  },
  prepareForUpdate({ object: namespace, old }) {
    namespace.spec = { ...namespace.spec, ...finalizersOf(old) };
    labelWithName(namespace);
  },

  validatesWhole: 'before',
  validate({ object: { spec } }, errors) {
    for (const finalizer of spec.finalizers ?? []) validateFinalizer(finalizer, errors.at('spec', 'finalizers'));
  },

  deletion: {
    foregroundUnlessOrphaned: true,
    mayRemove: ({ metadata, spec }) => metadata.deletionTimestamp !== undefined && (spec.finalizers ?? []).length === 0,
    mark(namespace) {
      namespace.status = { ...namespace.status, phase: 'Terminating' };
      delete namespace.metadata.deletionGracePeriodSeconds;
    },
  },

  subresources: {
    status: { update: { validateUpdate: validateStatusUpdate } },
    finalize: {
      hasNoTable: true,
      update: {
        prepareForUpdate({ object: namespace, old }) {
          namespace.status = structuredClone(old.status);
        },
        validateUpdate({ object: { metadata, spec } }, errors) {
          validateFinalizerNames(metadata, errors);
          for (const [index, finalizer] of (spec.finalizers ?? []).entries()) validateFinalizer(finalizer, errors.at('spec', 'finalizers').index(index));
        },
      },
    },
  },

  selectable: { 'status.phase': ({ status }) => status.phase ?? '' },
  cells: { Status: ({ status }) => status.phase ?? '' },
});

function labelWithName({ metadata }: Namespace): void {
  metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name! };
}

const finalizersOf = ({ spec }: Namespace): Pick<Namespace['spec'], 'finalizers'> =>
  spec.finalizers ? { finalizers: [...spec.finalizers] } : { finalizers: [] };

function validateFinalizer(finalizer: string, errors: FieldErrors): void {
  for (const error of qualifiedNameErrors(finalizer)) errors.invalid(finalizer, error);
  if (!finalizer.includes('/') && !STANDARD_FINALIZERS.has(finalizer))
    errors.invalid(finalizer, 'name is neither a standard finalizer name nor is it fully qualified');
}

function validateStatusUpdate({ object: { metadata, status } }: Change<Namespace>, errors: FieldErrors): void {
  validateFinalizerNames(metadata, errors);
  const phase = errors.at('status', 'Phase');
  if (!metadata.deletionTimestamp && status.phase !== 'Active') phase.invalidTyped(status.phase ?? '', "may only be 'Active' if `deletionTimestamp` is empty");
  if (metadata.deletionTimestamp && status.phase !== 'Terminating')
    phase.invalidTyped(status.phase ?? '', "may only be 'Terminating' if `deletionTimestamp` is not empty");
}
