import { customResourceDefinitions, validateDefinition, validateDefinitionUpdate } from '../../apis/apiextensions/custom-resource-definition.ts';
import type { RuleValidation } from '../../apis/apiextensions/spec-rules.ts';
import { someSchema } from '../../apis/apiextensions/schema-walk.ts';
import type { CustomResourceDefinition, JSONSchemaProps } from '../../apis/facts/types/apiextensions-v1.ts';
import { declareType } from '../../cel/data/declared-type.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { KindSettings } from '../../registry/write.ts';
import type { JsonSchema, ValidationRule } from '../../schema/structural/json-schema.ts';
import { Structure } from '../../schema/structural/structure.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { once, workInSteps } from '../../api/validation-run.ts';
import { type CompiledRule, compileRules } from './compile-rule.ts';
import { dataSchemaOf } from './data-schema-of.ts';
import { NO_OBSERVER, type RuleObserver } from './rule-metrics.ts';
import { RecentRules } from './recent-rules.ts';
import { defaultRules } from './rule-tree.ts';
import { hasRules } from './validation-rules.ts';

/** Estimates beyond these are refused (…/apis/apiextensions/validation): of one rule, and of all of a schema. */
const RULE_COST_LIMIT = 10_000_000;
const SCHEMA_COST_LIMIT = 100_000_000;
/** Rules that are told as having contributed: those that take more than a hundredth, and of them the most expensive. */
const MAX_CONTRIBUTORS = 4;

/** Definitions, whose rules are compiled and priced before they are let in, and left in `recent` for their objects. */
export function definitionsWithRules(recent = new RecentRules(), observer = NO_OBSERVER): ResourceDefinition {
  const usual = ruleValidationInto({ recent, observer });
  const ruleValidation = ({ settings, old }: { settings: KindSettings; old?: CustomResourceDefinition | undefined }): RuleValidation =>
    settings.hasFormerCel ? ruleValidationInto({ recent, observer, isFormer: formerRules(old) }) : usual;
  const own: Pick<ResourceDefinition<CustomResourceDefinition>, 'validate' | 'validateUpdate' | 'validatesInSlices'> = {
    validatesInSlices: true,
    validate: (write, errors) => validateDefinition(write, ruleValidation(write), errors),
    validateUpdate: (change, errors) =>
      validateDefinitionUpdate(change, equalJson(change.object.spec.versions, change.old.spec.versions) ? undefined : ruleValidation(change), errors),
  };
  // The schema is still looked up when it is first asked for.
  return Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(customResourceDefinitions), ...Object.getOwnPropertyDescriptors(own) },
  ) as ResourceDefinition;
}

/** What a check of rules tells, and which of them are new. */
interface RuleCheckOptions {
  recent: RecentRules;
  observer: RuleObserver;
  /** Which rules may only use what CEL had before v1.34. */
  isFormer?: (rule: string) => boolean;
}

/** Rules that are new: those that a definition has already may use all that any release knew. */
function formerRules(old: CustomResourceDefinition | undefined): (rule: string) => boolean {
  const stored = new Set<string>();
  for (const { schema } of old?.spec.versions ?? [])
    if (schema?.openAPIV3Schema)
      someSchema(schema.openAPIV3Schema, (each) => {
        for (const { rule } of each['x-kubernetes-validations'] ?? []) stored.add(rule);
        return false;
      });
  return (rule) => !stored.has(rule);
}

const ruleValidationInto = (options: RuleCheckOptions): RuleValidation => ({
  defaults() {
    const keeps = defaultRules();
    return (schema, isResource, errors) => keeps(new Structure(schema as JsonSchema), isResource, errors);
  },
  validate(schema, flawed, errors) {
    if (!once(errors, 'has rules', () => someSchema(schema, saysRules))) return;
    const structure = once(errors, 'rules', () => new Structure(schema as JsonSchema));
    if (hasRules(structure)) new RuleCheck(flawed, errors, options).check(structure);
  },
});

const saysRules = (schema: JSONSchemaProps): boolean => (schema['x-kubernetes-validations'] ?? []).length > 0;

/** What holds on the way down to a schema. */
interface Place {
  isRoot: boolean;
  /** How often values of the schema can occur; undefined for no bound. */
  cardinality: number | undefined;
  /** The list or map above whose old values cannot be told apart. */
  uncorrelatable: string | undefined;
}

class RuleCheck {
  readonly #errors: FieldErrors;
  /** Fields that have something wrong below them already: their rules are not looked at. */
  readonly #flawed: ReadonlySet<string>;
  readonly #recent: RecentRules;
  readonly #observer: RuleObserver;
  readonly #isFormer: RuleCheckOptions['isFormer'];
  #totalCost = 0;
  readonly #expensive: { at: FieldErrors; cost: number }[] = [];

  constructor(flawed: readonly string[], errors: FieldErrors, { recent, observer, isFormer }: RuleCheckOptions) {
    this.#isFormer = isFormer;
    this.#errors = errors;
    this.#recent = recent;
    this.#observer = observer;
    this.#flawed = new Set(flawed.flatMap(fieldsAbove));
  }

  check(structure: Structure): void {
    this.#walk(structure, { isRoot: true, cardinality: 1, uncorrelatable: undefined }, this.#errors);
    if (this.#totalCost <= SCHEMA_COST_LIMIT) return;
    const most = this.#expensive.toSorted((a, b) => b.cost - a.cost).slice(0, MAX_CONTRIBUTORS);
    for (const { at } of most) at.forbidden('contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema');
    this.#errors.forbidden(costMessage('x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema', this.#totalCost, SCHEMA_COST_LIMIT));
  }

  /** Inner schemas first. */
  #walk(structure: Structure, place: Place, errors: FieldErrors): void {
    if (!hasRules(structure)) return;
    const { schema } = structure;
    const below = { isRoot: false, cardinality: product(place.cardinality, mostChildren(schema)), uncorrelatable: place.uncorrelatable };
    if (structure.additional)
      this.#walk(structure.additional, { ...below, isRoot: structure.additional.isEmbeddedResource }, errors.at('additionalProperties'));
    for (const name of structure.propertyNames) {
      const property = structure.property(name)!;
      this.#walk(property, { ...below, isRoot: property.isEmbeddedResource }, errors.at('properties').key(name));
    }
    if (structure.items) {
      const isTold = schema['x-kubernetes-list-type'] === 'map';
      this.#walk(
        structure.items,
        { ...below, isRoot: structure.items.isEmbeddedResource, uncorrelatable: below.uncorrelatable ?? (isTold ? undefined : errors.path) },
        errors.at('items'),
      );
    }
    const hasOwnRules = (schema['x-kubernetes-validations'] ?? []).length > 0;
    if (hasOwnRules && (this.#flawed.size === 0 || !this.#flawed.has(errors.path))) this.#rules(schema, place, errors.at('x-kubernetes-validations'));
  }

  #rules(schema: JsonSchema, place: Place, errors: FieldErrors): void {
    const declared = declareType(dataSchemaOf(schema), 'selfType', place.isRoot);
    if (declared === undefined)
      return errors.internal(
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
      );
    const compiled: CompiledRule[] = [];
    for (const compile of compileRules({ ...schema, allOf: [] }, declared, this.#observer, this.#isFormer)) {
      const at = errors.index(compiled.length);
      const rule = workInSteps(at, 'compiled', compile);
      compiled.push(rule);
      this.#rule(rule, place, at);
    }
    this.#recent.keep(schema, place.isRoot, compiled);
  }

  #rule(compiled: CompiledRule, { cardinality, uncorrelatable }: Place, errors: FieldErrors): void {
    const { rule, error, usesOldSelf, maxCost, message, messageError, messageMaxCost } = compiled;
    const at = errors.at('rule');
    this.#price(maxCost * (cardinality ?? compiled.maxCardinality), 'estimated rule cost', at);
    if (error !== undefined) at.invalid(printedRule(rule), error);
    if (messageError !== undefined) errors.at('messageExpression').invalid(printedRule(rule), messageError);
    else if (message !== undefined) this.#price(messageMaxCost, 'estimated messageExpression cost', errors.at('messageExpression'));
    if (usesOldSelf && uncorrelatable !== undefined)
      at.invalid(rule.rule, `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`);
    else if (!usesOldSelf && rule.optionalOldSelf !== undefined)
      errors.at('optionalOldSelf').invalid(rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule');
  }

  #price(cost: number, what: string, errors: FieldErrors): void {
    if (cost > RULE_COST_LIMIT) errors.forbidden(costMessage(what, cost, RULE_COST_LIMIT));
    this.#totalCost += cost;
    if (cost >= SCHEMA_COST_LIMIT / 100) this.#expensive.push({ at: errors, cost });
  }
}

const product = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined || b === undefined ? undefined : a * b);

function mostChildren({ type, maxItems, maxProperties, additionalProperties }: JsonSchema): number | undefined {
  if (type === 'array') return maxItems === undefined ? undefined : Math.max(0, maxItems);
  if (type === 'object' && additionalProperties !== undefined) return maxProperties === undefined ? undefined : Math.max(0, maxProperties);
  return 1;
}

function costMessage(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** As upstream's internal type is printed. */
const printedRule = ({ rule, message = '', messageExpression = '', reason, fieldPath = '', optionalOldSelf }: ValidationRule): object => ({
  Rule: rule,
  Message: message,
  MessageExpression: messageExpression,
  Reason: reason ?? null,
  FieldPath: fieldPath,
  OptionalOldSelf: optionalOldSelf ?? null,
});

/** `a` and `a.b` of `a.b.c`. */
function fieldsAbove(field: string): string[] {
  const above: string[] = [];
  for (let dot = field.indexOf('.'); dot >= 0; dot = field.indexOf('.', dot + 1)) above.push(field.slice(0, dot));
  return above;
}
