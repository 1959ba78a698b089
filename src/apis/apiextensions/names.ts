import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1035LabelErrors } from '../../api/names.ts';
import type { CustomResourceDefinitionNames } from '../facts/types/apiextensions-v1.ts';

/** Names of a custom resource: those asked for, or those that were accepted. Which of them must be there is for the caller. */
export function validateDefinitionNames(names: CustomResourceDefinitionNames, errors: FieldErrors): void {
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names;
  if (plural !== '') validateLabel(plural, errors.at('plural'));
  if (singular !== '') validateLabel(singular, errors.at('singular'));
  if (kind !== '') validateMixedCaseLabel(kind, errors.at('kind'));
  if (listKind !== '') validateMixedCaseLabel(listKind, errors.at('listKind'));
  for (const [index, name] of shortNames.entries()) validateLabel(name, errors.at('shortNames').index(index));
  if (kind !== '' && kind === listKind) errors.at('listKind').invalid(listKind, 'kind and listKind may not be the same');
  for (const [index, category] of categories.entries()) validateLabel(category, errors.at('categories').index(index));
}

/** All that is wrong in one error. */
export function validateLabel(label: string, errors: FieldErrors): void {
  const problems = dns1035LabelErrors(label);
  if (problems.length > 0) errors.invalid(label, problems.join(','));
}

function validateMixedCaseLabel(label: string, errors: FieldErrors): void {
  const problems = dns1035LabelErrors(label.toLowerCase());
  if (problems.length > 0) errors.invalid(label, `may have mixed case, but should otherwise match: ${problems.join(',')}`);
}
