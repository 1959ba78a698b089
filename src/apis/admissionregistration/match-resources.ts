import { parseApiVersion } from '../../api/api-object.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1035LabelErrors, dns1123SubdomainErrors, pathSegmentErrors } from '../../api/names.ts';
import type { MatchResources, ParamKind, ParamRef } from '../facts/types/admissionregistration-v1.ts';
import { validateChoice } from '../validation/choice.ts';
import { parsedSelector, validateLabelSelector } from '../validation/label-selector.ts';
import { EQUIVALENT, MATCH_POLICIES } from './policies.ts';
import { defaultWebhookRules, validateNamedRules } from './rules.ts';

/** What policies and their bindings have in common: what they apply to, and where their parameters come from. */
const NOT_FOUND_ACTIONS = ['Deny', 'Allow'];
const EXCLUSIVE = 'name and selector are mutually exclusive';

export function defaultMatchResources(resources: MatchResources | undefined): void {
  if (!resources) return;
  resources.matchPolicy ??= EQUIVALENT;
  resources.namespaceSelector ??= {};
  resources.objectSelector ??= {};
  defaultWebhookRules(resources.resourceRules);
  defaultWebhookRules(resources.excludeResourceRules);
}

export function validateMatchResources(resources: MatchResources | undefined, errors: FieldErrors): void {
  if (!resources) return;
  if (resources.matchPolicy === undefined) errors.at('matchPolicy').required();
  else if (!MATCH_POLICIES.includes(resources.matchPolicy)) errors.at('matchPolicy').notSupported(resources.matchPolicy, MATCH_POLICIES);
  for (const field of ['namespaceSelector', 'objectSelector'] as const) {
    if (resources[field]) validateLabelSelector(resources[field], errors.at(field));
    else errors.at(field).required();
  }
  for (const field of ['resourceRules', 'excludeResourceRules'] as const) validateNamedRules(resources[field], errors.at(field));
}

export function validateParamKind({ apiVersion = '', kind = '' }: ParamKind, errors: FieldErrors): void {
  validateParamVersion(apiVersion, errors.at('apiVersion'));
  if (kind === '') errors.at('kind').required();
  else {
    const problems = dns1035LabelErrors(kind.toLowerCase());
    if (problems.length > 0) errors.at('kind').invalid(kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`);
  }
}

function validateParamVersion(apiVersion: string, errors: FieldErrors): void {
  if (apiVersion === '') return errors.required();
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) return errors.invalid(apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  const { group, version } = parsed;
  const groupProblems = group === '' ? [] : dns1123SubdomainErrors(group);
  if (groupProblems.length > 0) errors.invalid(group, groupProblems.join(','));
  const versionProblems = version === '' ? [] : dns1035LabelErrors(version);
  if (version === '') errors.invalid(apiVersion, 'version must be specified');
  else if (versionProblems.length > 0) errors.invalid(version, versionProblems.join(','));
}

export function validateParamRef(reference: ParamRef | undefined, errors: FieldErrors): void {
  if (!reference) return;
  const { name = '', selector, parameterNotFoundAction } = reference;
  for (const error of pathSegmentErrors(name)) errors.at('name').invalid(name, error);
  if (name !== '' && selector) errors.at('name').forbidden(EXCLUSIVE);
  validateLabelSelector(selector, errors.at('selector'));
  if (name !== '' && selector) errors.at('selector').forbidden(EXCLUSIVE);
  if (name === '' && !selector) errors.required('one of name or selector must be specified');
  validateChoice(parameterNotFoundAction, NOT_FOUND_ACTIONS, errors.at('parameterNotFoundAction'));
}

/** For a table's cell. */
export const formatParamKind = (kind: ParamKind | undefined): string => (kind ? `${kind.apiVersion ?? ''}/${kind.kind ?? ''}` : '<unset>');

export function formatParamRef(reference: ParamRef | undefined): string {
  if (reference?.name) return `${reference.namespace || '*'}/${reference.name}`;
  return reference?.selector ? (parsedSelector(reference.selector)?.toString() ?? '') : '<unset>';
}
