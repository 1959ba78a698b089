import { DEFAULT_COST_LIMIT, type Evaluation } from '../../cel/cel.ts';
import type { DataSchema } from '../../cel/data/data-schema.ts';
import { withObjectMeta } from '../../cel/data/data-schema.ts';
import { dataValue } from '../../cel/data/data-value.ts';
import { declareType } from '../../cel/data/declared-type.ts';
import { CelError, CelOptional, type CelValue, NONE } from '../../cel/values.ts';
import { Comparison, type Old, oldField, oldItem } from '../../schema/structural/correlation.ts';
import type { JsonSchema, ValidationRule } from '../../schema/structural/json-schema.ts';
import type { Structure } from '../../schema/structural/structure.ts';
import { FieldErrors, summarize } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { isJsonObject } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import { workInSteps } from '../../api/validation-run.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import { type CompiledRule, compileRules, rulesOf } from './compile-rule.ts';
import { dataSchemaOf } from './data-schema-of.ts';
import { NO_OBSERVER, type RuleObserver } from './rule-metrics.ts';
import { RecentRules } from './recent-rules.ts';
import { type CompileRules, type ValidationRules, hasRules } from './validation-rules.ts';

/** For all rules of one object (apiserver/pkg/apis/cel RuntimeCELCostBudget). */
const OBJECT_COST_LIMIT = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;

/** Ends the validation: nothing more can be paid for. */
class BudgetSpent extends Error {}

/** What stood here before, as far as that is known, and what stood above: unchanged values may break rules that do not look back. */
class Before {
  readonly old: Old;
  readonly above: Before | undefined;
  /** Undefined where what is unchanged is evaluated all the same. */
  readonly #now: Json | undefined;
  #isUnchanged: boolean | undefined;

  constructor(old: Old, now: Json | undefined, above?: Before) {
    this.old = old;
    this.#now = now;
    this.above = above;
  }

  below(value: Json, old: Old): Before {
    return new Before(old, this.#now === undefined ? undefined : value, this);
  }

  /** Where the place had no value of its own, by what stood above it. Asked only of values that break a rule, and of a list for each of its items. */
  isUnchanged(comparison: Comparison): boolean {
    if (this.old === undefined) return this.above?.isUnchanged(comparison) === true;
    return (this.#isUnchanged ??= this.#now !== undefined && comparison.isUnchanged(this.#now, this.old));
  }
}

interface Run {
  budget: number;
  comparison: Comparison;
  warn(text: string): void;
}

/** Rules as they are compiled when the first object is evaluated, or as they are in `recent`. */
export const compileRuleTree = (structure: Structure, recent = new RecentRules(), observer = NO_OBSERVER): ReturnType<CompileRules> => {
  const root = new RuleNode(structure, true, { recent, observer });
  return {
    validate(object, old, errors, warn, comparison = new Comparison()) {
      const before = old && new Before({ value: old, schema: structure.schema }, object);
      const startMs = performance.now();
      evaluate(root, object, before, { budget: OBJECT_COST_LIMIT, comparison, warn }, errors);
      observer.evaluated(performance.now() - startMs);
    },
  } satisfies ValidationRules;
};

/** Answers whether all rules could be paid for. */
function evaluate(root: RuleNode, value: Json, before: Before | undefined, limits: Run, errors: FieldErrors): boolean {
  try {
    root.validate(value, before, limits, errors);
    return true;
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    return false;
  }
}

/**
 * The rules on the schema's own defaults, which have to keep them as values that were there before and as new ones (…/schema/defaulting/validation.go).
 * All defaults of a schema are paid for together.
 */
export function defaultRules(): (structure: Structure, isRoot: boolean, errors: FieldErrors) => boolean {
  const limits: Run = { budget: OBJECT_COST_LIMIT, comparison: new Comparison(), warn: () => {} };
  const compiling = { recent: new RecentRules(), observer: NO_OBSERVER };
  return (structure, isRoot, errors) => !hasRules(structure) || keepsRules(new RuleNode(structure, isRoot, compiling), structure.default!, limits, errors);
}

/** Answers whether there is budget left for more. */
function keepsRules(node: RuleNode, value: Json, limits: Run, errors: FieldErrors): boolean {
  const budget = limits.budget;
  const errorsBefore = errors.list.length;
  // Not as an unchanged value, which might break rules that do not look back.
  if (!evaluate(node, value, new Before({ value, schema: node.schema }, undefined), limits, errors)) return false;
  if (errors.list.length > errorsBefore) return true;
  const asNew = { ...limits, budget };
  const isPaid = evaluate(node, value, undefined, asNew, errors);
  limits.budget = Math.min(limits.budget, asNew.budget);
  return isPaid;
}

/** The rules of one schema, each compiled when it is first applied: there may be thousands. */
interface CompiledNode {
  rules: (CompiledRule | undefined)[];
  compilers: readonly (() => SlicedWork<CompiledRule>)[];
  schema: DataSchema;
}

/** Where compiled rules may be found, and who hears of those that are compiled. */
interface Compiling {
  recent: RecentRules;
  observer: RuleObserver;
}

class RuleNode {
  readonly #structure: Structure;
  readonly #isRoot: boolean;
  readonly #hasOwnRules: boolean;
  readonly #compiling: Compiling;
  readonly #children = new Map<Structure, RuleNode | undefined>();
  #compiled: CompiledNode | { problem: string } | undefined;

  constructor(structure: Structure, isRoot: boolean, compiling: Compiling) {
    this.#structure = structure;
    this.#isRoot = isRoot;
    this.#compiling = compiling;
    this.#hasOwnRules = rulesOf(structure.schema).length > 0;
  }

  get schema(): JsonSchema {
    return this.#structure.schema;
  }

  validate(value: Json, before: Before | undefined, run: Run, errors: FieldErrors): void {
    if (value === null) return;
    if (this.#hasOwnRules) this.#apply(value, before, run, errors);
    if (Array.isArray(value)) return this.#validateItems(value, before, run, errors);
    if (!isJsonObject(value)) return;
    for (const key of Object.keys(value)) {
      const property = this.#structure.property(key);
      const node = this.#child(property ?? this.#structure.additional);
      if (node === undefined) continue;
      node.validate(value[key]!, before?.below(value[key]!, oldField(before.old, key)), run, property ? errors.at(key) : errors.key(key));
    }
  }

  #validateItems(list: readonly Json[], before: Before | undefined, run: Run, errors: FieldErrors): void {
    const node = this.#child(this.#structure.items);
    if (node === undefined) return;
    for (const [index, item] of list.entries()) node.validate(item, before?.below(item, oldItem(before.old, item)), run, errors.index(index));
  }

  #child(structure: Structure | undefined): RuleNode | undefined {
    if (structure === undefined) return undefined;
    if (!this.#children.has(structure))
      this.#children.set(structure, hasRules(structure) ? new RuleNode(structure, structure.isEmbeddedResource, this.#compiling) : undefined);
    return this.#children.get(structure);
  }

  #compile(): CompiledNode | { problem: string } {
    const schema = dataSchemaOf(this.#structure.schema);
    const objectSchema = this.#isRoot ? withObjectMeta(schema) : schema;
    const recent = this.#compiling.recent.take(this.#structure.schema, this.#isRoot);
    if (recent !== undefined) return { rules: [...recent], compilers: [], schema: objectSchema };
    const declared = declareType(schema, 'selfType', this.#isRoot);
    if (declared === undefined) return { problem: 'failed to convert to declType for CEL validation rules' };
    const compilers = [...compileRules(this.#structure.schema, declared, this.#compiling.observer)];
    return { rules: compilers.map(() => undefined), compilers, schema: objectSchema };
  }

  #apply(value: Json, before: Before | undefined, run: Run, errors: FieldErrors): void {
    this.#compiled ??= this.#compile();
    const type = this.#structure.schema.type ?? '';
    const compiled = this.#compiled;
    if ('problem' in compiled) return at(errors).invalid(type, `rule compiler initialization error: ${compiled.problem}`);
    if (run.budget <= 0) spend(errors, type);
    const self = dataValue(value, compiled.schema);
    const former = before?.old?.value ?? null;
    const oldSelf = former === null ? undefined : dataValue(former, compiled.schema);
    const owned = (this.#structure.schema['x-kubernetes-validations'] ?? []).length;
    for (let index = 0; index < compiled.rules.length; index++) {
      const rule = (compiled.rules[index] ??= workInSteps(errors, `rule ${index}`, compiled.compilers[index]!));
      // Rules of allOf go by what stands above, as the schemas there do.
      this.#applyOne(rule, { self, oldSelf }, value, index < owned ? before : before?.above, run, errors);
    }
  }

  #applyOne(
    compiled: CompiledRule,
    data: { self: CelValue; oldSelf: CelValue | undefined },
    value: Json,
    before: Before | undefined,
    run: Run,
    errors: FieldErrors,
  ): void {
    const { rule, program, error, usesOldSelf } = compiled;
    const type = this.#structure.schema.type ?? '';
    if (error !== undefined) return at(errors).invalid(type, `rule compile error: ${error}`);
    if (program === undefined || (usesOldSelf && data.oldSelf === undefined && !rule.optionalOldSelf)) return;
    const { self, oldSelf } = data;
    const variables: Record<string, CelValue> = { self };
    if (rule.optionalOldSelf) variables['oldSelf'] = oldSelf === undefined ? NONE : new CelOptional(oldSelf);
    else if (oldSelf !== undefined) variables['oldSelf'] = oldSelf;
    const result = program.evaluate(variables, { costLimit: DEFAULT_COST_LIMIT });
    if (result.cost > run.budget) spend(errors, type);
    run.budget -= result.cost;
    if (result.value === true) return;
    if (result.value instanceof CelError) return evaluationError(result, rule, type, errors);
    const place = compiled.fieldPath === '' ? at(errors) : errors.at(compiled.fieldPath);
    const detail = messageOf(compiled, variables, run, place, type);
    // What is unchanged is let be, unless the rule is about the change; the client is warned of it.
    const isLetBe = !usesOldSelf && before?.isUnchanged(run.comparison) === true;
    const told = isLetBe ? new FieldErrors(place.path) : place;
    tell(rule, detail, value, type, told);
    if (isLetBe) run.warn(summarize(told.list));
  }
}

/** The whole object has no path. */
const at = (errors: FieldErrors): FieldErrors => (errors.path === '' ? new FieldErrors('<nil>', errors.list) : errors);

function spend(errors: FieldErrors, type: string): never {
  at(errors).invalid(type, 'validation failed due to running out of cost budget, no further validation rules will be run');
  throw new BudgetSpent();
}

const shown = ({ rule, message = '' }: ValidationRule): string => (message === '' ? rule : message).trim();

function evaluationError({ value, cancelled }: Evaluation, rule: ValidationRule, type: string, errors: FieldErrors): void {
  const { message } = value as CelError;
  if (message.startsWith('no such overload'))
    at(errors).invalid(type, `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${shown(rule)}`);
  else if (cancelled === 'costLimitExceeded') {
    at(errors).invalid(type, `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown(rule)}`);
    throw new BudgetSpent();
  } else at(errors).invalid(type, `${message} evaluating rule: ${shown(rule)}`);
}

function tell({ reason }: ValidationRule, detail: string, value: Json, type: string, errors: FieldErrors): void {
  const isShown = type !== 'object' && type !== 'array';
  if (reason === 'FieldValueForbidden') errors.forbidden(detail);
  else if (reason === 'FieldValueRequired') errors.required(detail);
  else if (reason === 'FieldValueDuplicate' && isShown) errors.duplicate(value);
  else if (reason === 'FieldValueDuplicate') errors.duplicateUnshown();
  else if (isShown) errors.invalid(value, detail);
  else errors.invalidUnshown(detail);
}

/** What messageExpression says, where it says something fit to be shown; else the rule's message. */
function messageOf({ rule, message }: CompiledRule, variables: Record<string, CelValue>, run: Run, errors: FieldErrors, type: string): string {
  const fallback = rule.message ? rule.message.trim() : `failed rule: ${shown(rule)}`;
  if (message === undefined) return fallback;
  const { value, cost, cancelled } = message.evaluate(variables, { costLimit: DEFAULT_COST_LIMIT });
  const stop = (why: string): never => {
    errors.invalid(type, why);
    throw new BudgetSpent();
  };
  if (cost > run.budget) stop('messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run');
  run.budget -= cost;
  if (cancelled === 'costLimitExceeded')
    stop(`no further validation rules will be run due to call cost exceeds limit for messageExpression: ${quote(rule.messageExpression ?? '')}`);
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' || text.includes('\n') || Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? fallback : text;
}
