import type { FieldErrors } from '../../api/field-errors.ts';
import { labelName, subdomainName } from '../../api/names.ts';
import type { NonResourcePolicyRule, PolicyRulesWithSubjects, ResourcePolicyRule, ServiceAccountSubject, Subject } from '../facts/types/flowcontrol-v1.ts';

const ALL = '*';
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

export function validateFlowRule({ subjects, resourceRules, nonResourceRules }: PolicyRulesWithSubjects, errors: FieldErrors): void {
  for (const [index, subject] of (subjects ?? []).entries()) validateSubject(subject, errors.at('subjects').index(index));
  if ((subjects ?? []).length === 0) errors.at('subjects').required('subjects must contain at least one value');
  if ((resourceRules ?? []).length === 0 && (nonResourceRules ?? []).length === 0)
    errors.required('at least one of resourceRules and nonResourceRules has to be non-empty');
  for (const [index, rule] of (resourceRules ?? []).entries()) validateResourceRule(rule, errors.at('resourceRules').index(index));
  for (const [index, rule] of (nonResourceRules ?? []).entries()) validateNonResourceRule(rule, errors.at('nonResourceRules').index(index));
}

/** Each kind of subject, the field that tells who it is, and how that is validated. */
const SUBJECTS = [
  {
    kind: 'ServiceAccount',
    field: 'serviceAccount',
    validate: ({ serviceAccount }: Subject, errors: FieldErrors) => validateServiceAccount(serviceAccount!, errors),
  },
  { kind: 'User', field: 'user', validate: ({ user }: Subject, errors: FieldErrors) => validateNamed(user!, errors) },
  { kind: 'Group', field: 'group', validate: ({ group }: Subject, errors: FieldErrors) => validateNamed(group!, errors) },
] as const;

function validateSubject(subject: Subject, errors: FieldErrors): void {
  const own = SUBJECTS.find(({ kind }) => kind === subject.kind);
  if (!own) return errors.at('kind').notSupported(subject.kind, ['Group', 'ServiceAccount', 'User']);
  if (subject[own.field]) own.validate(subject, errors.at(own.field));
  else errors.at(own.field).required(`${own.field} is required when subject kind is '${own.kind}'`);
  for (const { kind, field } of SUBJECTS)
    if (kind !== own.kind && subject[field]) errors.at(field).forbidden(`${field} is forbidden when subject kind is not '${kind}'`);
}

function validateNamed({ name }: { name: string }, errors: FieldErrors): void {
  if (name === '') errors.at('name').required();
}

function validateServiceAccount({ name, namespace }: ServiceAccountSubject, errors: FieldErrors): void {
  if (name === '') errors.at('name').required();
  else if (name !== ALL) for (const error of subdomainName(name, false)) errors.at('name').invalid(name, error);
  if (namespace === '') errors.at('namespace').required('must specify namespace for service account');
  else for (const error of labelName(namespace, false)) errors.at('namespace').invalid(namespace, error);
}

/** Nothing may stand beside a star. */
function validateStar(list: readonly string[], what: string, errors: FieldErrors): void {
  if (list.includes(ALL) && list.length > 1) errors.invalid(list, `if '*' is present, must not specify other ${what}`);
}

function validateVerbs(verbs: readonly string[] | null, errors: FieldErrors): void {
  if (!verbs || verbs.length === 0) return errors.required('verbs must contain at least one value');
  validateStar(verbs, 'verbs', errors);
  if (!verbs.includes(ALL) && !verbs.every((verb) => VERBS.includes(verb))) errors.notSupported(verbs, VERBS);
}

function validateResourceRule({ verbs, apiGroups, resources, clusterScope, namespaces }: ResourcePolicyRule, errors: FieldErrors): void {
  validateVerbs(verbs, errors.at('verbs'));
  if (!apiGroups || apiGroups.length === 0) errors.at('apiGroups').required('resource rules must supply at least one api group');
  else validateStar(apiGroups, 'api groups', errors.at('apiGroups'));
  if (!resources || resources.length === 0) errors.at('resources').required('resource rules must supply at least one resource');
  else validateStar(resources, 'resources', errors.at('resources'));
  validateNamespaces(namespaces ?? [], clusterScope ?? false, errors.at('namespaces'));
}

function validateNamespaces(namespaces: readonly string[], isClusterScoped: boolean, errors: FieldErrors): void {
  if (namespaces.length === 0 && !isClusterScoped) return errors.required('resource rules that are not cluster scoped must supply at least one namespace');
  if (namespaces.includes(ALL)) return validateStar(namespaces, 'namespaces', errors);
  for (const [index, namespace] of namespaces.entries()) {
    for (const error of labelName(namespace, false))
      errors.index(index).invalid(namespace, `each member of this list must be '*' or a DNS-1123 label; ${error}`);
  }
}

function validateNonResourceRule({ verbs, nonResourceURLs }: NonResourcePolicyRule, errors: FieldErrors): void {
  validateVerbs(verbs, errors.at('verbs'));
  const urls = nonResourceURLs ?? [];
  const at = errors.at('nonResourceURLs');
  if (urls.length === 0) return at.required('nonResourceURLs must contain at least one value');
  if (urls.includes(ALL)) return validateStar(urls, 'non-resource URLs', at);
  for (const [index, url] of urls.entries()) {
    const problem = urlProblem(url);
    if (problem !== undefined) at.index(index).invalid(url, problem);
  }
}

/** A path, or all that begins with one: `/healthz`, `/metrics/*`. */
function urlProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (path === '/') return undefined;
  if (!path.startsWith('/')) return 'must start with slash';
  if (path.includes(' ')) return 'must not contain white-space';
  if (path.includes('//')) return 'must not contain double slash';
  const star = path.indexOf(ALL);
  return star >= 0 && (star !== path.length - 1 || path[star - 1] !== '/') ? 'wildcard can only do suffix matching' : undefined;
}
