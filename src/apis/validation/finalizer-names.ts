import type { ObjectMeta } from '../../api/api-object.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { checkEach } from '../../api/validation-run.ts';

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** What the older groups demand of finalizers beyond the common rules for metadata (pkg/apis/core/validation ValidateObjectMeta). `errors` stands at the object. */
export function validateFinalizerNames({ finalizers }: ObjectMeta, errors: FieldErrors): void {
  checkEach(errors, 'finalizer names', finalizers ?? [], (finalizer, index) => {
    if (finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) return;
    errors.at('metadata', 'finalizers').index(index).invalid(finalizer, 'name is neither a standard finalizer name nor is it fully qualified');
  });
}
