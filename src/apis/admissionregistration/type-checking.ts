import { PlanError, compileInSteps } from '../../cel/cel.ts';
import type { DataSchema } from '../../cel/data/data-schema.ts';
import { type DeclaredType, declareType } from '../../cel/data/declared-type.ts';
import type { Environment } from '../../cel/environment.ts';
import { CelErrors } from '../../cel/source.ts';
import { DYN, type CelType } from '../../cel/types.ts';
import type { ExpressionWarning, ValidatingAdmissionPolicy } from '../facts/types/admissionregistration-v1.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import { type CheckedTypes, checkingEnvironment, variableType, withVariables } from './expression-environment.ts';

/** A kind that is served, as a resource of a group and version. */
export interface ServedType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** What expressions see of its objects. */
  seen(): DataSchema;
}

const MAX_TYPES_OF_A_RULE = 10;

/** What is wrong with a policy's expressions for the kinds that its rules name, in upstream's words (plugin/policy/validating/typechecking.go). */
export function* expressionWarnings({ spec }: ValidatingAdmissionPolicy, served: readonly ServedType[]): SlicedWork<ExpressionWarning[]> {
  const { paramKind, variables = [], validations = [], matchConstraints } = spec;
  const params = paramKind && served.find(({ group, version, kind }) => kind === paramKind.kind && groupVersion(group, version) === paramKind.apiVersion);
  const types: CheckedTypes = { hasParams: paramKind !== undefined, params: params && seenAs(params) };
  const targets: { shown: string; environment: Environment }[] = [];
  for (const type of yield* typesToCheck(matchConstraints?.resourceRules ?? [], served)) {
    const environment = checkingEnvironment(seenAs(type), types);
    targets.push({ shown: `${type.group}/${type.version}, Kind=${type.kind}`, environment: yield* withPolicyVariables(environment, variables) });
  }
  const warnings: ExpressionWarning[] = [];
  function* check(text: string, fieldRef: string): SlicedWork<void> {
    const found: string[] = [];
    for (const { shown, environment } of targets) {
      const issues = yield* issuesOf(text, environment);
      if (issues !== undefined) found.push(`${shown}: ${issues}\n`);
    }
    if (found.length > 0) warnings.push({ fieldRef, warning: found.join('\n') });
  }
  for (const [index, { expression, messageExpression = '' }] of validations.entries()) {
    yield* check(expression, `spec.validations[${index}].expression`);
    if (messageExpression !== '') yield* check(messageExpression, `spec.validations[${index}].messageExpression`);
  }
  return warnings;
}

const groupVersion = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`);

const seenAs = ({ kind, seen }: ServedType): DeclaredType | undefined => declareType(seen(), kind, true);

type Rule = NonNullable<NonNullable<ValidatingAdmissionPolicy['spec']['matchConstraints']>['resourceRules']>[number];

/** By group, version and kind. Of rules with a star nobody knows what they name; subresources are not looked at. */
export function* typesToCheck(rules: readonly Rule[], served: readonly ServedType[]): SlicedWork<ServedType[]> {
  const found = new Map<string, ServedType>();
  for (const rule of rules) {
    yield;
    const named = namedTypes(rule, served).slice(0, MAX_TYPES_OF_A_RULE);
    for (const type of named) found.set(`${type.group}/${type.version}/${type.kind}`, type);
    if (named.length === MAX_TYPES_OF_A_RULE) break;
  }
  return [...found.values()].toSorted((a, b) => compare(a.group, b.group) || compare(a.version, b.version) || compare(a.kind, b.kind));
}

/** To the mapper that upstream asks, the core group's name is no name: a resource of any group will do. */
function namedTypes({ apiGroups = [], apiVersions = [], resources = [] }: Rule, served: readonly ServedType[]): ServedType[] {
  if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) return [];
  const [groups, versions, plurals] = [new Set(apiGroups), new Set(apiVersions), new Set(resources.filter((name) => !/[*/]/.test(name)))];
  // Of what is served, not of what is named: the names multiply. In the order in which upstream would come upon them.
  const named = served
    .filter(({ version, plural }) => versions.has(version) && plurals.has(plural))
    .toSorted((a, b) => compare(a.version, b.version) || compare(a.plural, b.plural));
  const ofGroups = named.filter(({ group }) => group !== '' && groups.has(group)).toSorted((a, b) => compare(a.group, b.group));
  return groups.has('') ? [...named, ...ofGroups] : ofGroups;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Each variable sees those before it; one that is wrong may be anything. */
function* withPolicyVariables(environment: Environment, variables: readonly { name: string; expression: string }[]): SlicedWork<Environment> {
  const types = new Map<string, CelType>();
  const whole = withVariables(environment, (name) => types.get(name));
  for (const { name, expression } of variables) types.set(name, yield* typeOf(expression, whole));
  return whole;
}

function* typeOf(expression: string, environment: Environment): SlicedWork<CelType> {
  yield;
  try {
    const { resultType } = yield* compileInSteps(expression, environment);
    return variableType(resultType);
  } catch (error) {
    if (error instanceof CelErrors || error instanceof PlanError) return DYN;
    throw error;
  }
}

/** Only what checking finds: nothing is evaluated here. */
function* issuesOf(expression: string, environment: Environment): SlicedWork<string | undefined> {
  yield;
  try {
    yield* compileInSteps(expression, environment);
    return undefined;
  } catch (error) {
    if (error instanceof CelErrors) return error.message;
    if (error instanceof PlanError) return undefined;
    throw error;
  }
}
