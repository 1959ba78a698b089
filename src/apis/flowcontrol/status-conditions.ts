import type { UpdateRules } from '../../registry/definition.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { keepAllMetadataForStatus } from '../status-metadata.ts';

interface Conditioned extends ApiObject {
  status: { conditions?: { type?: string }[] };
}

/** One condition of each type. `errors` stands at the object. */
export function validateStatusConditions({ status }: Conditioned, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, { type = '' }] of (status?.conditions ?? []).entries()) {
    const at = errors.at('status', 'conditions').index(index).at('type');
    if (seen.has(type)) at.duplicateTyped(type);
    seen.add(type);
    if (type === '') at.required();
  }
}

/** Of both kinds here: /status writes conditions and nothing else. */
export const statusUpdate: UpdateRules<Conditioned> = {
  validatesMetadata: false,
  prepareForUpdate: keepAllMetadataForStatus,
  validateUpdate: ({ object }, errors) => validateStatusConditions(object, errors),
};
