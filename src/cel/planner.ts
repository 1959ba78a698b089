import type { Call, Expr, ListExpr, MapExpr, Select, StructExpr } from './ast.ts';
import { functionOf, meaningOf, type CheckedExpr, type FunctionReference } from './checker.ts';
import { equal } from './compare.ts';
import { LIST_CREATE_COST, MAP_CREATE_COST, STRUCT_CREATE_COST } from './cost/factors.ts';
import { callCost, equalityCost, inequalityCost } from './cost/runtime.ts';
import { show } from './convert.ts';
import type { Environment } from './environment.ts';
import { charge, type PlannedExpression } from './frame.ts';
import * as operators from './operators.ts';
import { Slots, planComprehension } from './plan-comprehension.ts';
import { dispatchOf, planSearchCall, planStrictCall } from './plan-call.ts';
import type { SearchDeclaration } from './declarations.ts';
import { membershipTest } from './membership.ts';
import { isPresent, qualify, qualifyOptionally } from './qualify.ts';
import { ArrayList, CelError, CelList, CelOptional, EntryMap, noSuchOverload, type CelValue } from './values.ts';

/** A constant part of an expression cannot be evaluated; the message is the error's. */
export class PlanError extends Error {}

/** How a part of an expression is run. */
export interface Plan {
  evaluate: PlannedExpression;
  /** For what names a value (variables, fields, elements): the same without the one unit that naming costs. Branches of `?:` and indexes are read so. */
  resolve?: PlannedExpression;
  /** Known without running anything. */
  constant?: CelValue;
}

/** Conversions of constants are done ahead. */
const CONVERSIONS = new Set(['bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'type', 'uint']);

const constantPlan = (value: CelValue): Plan => ({ evaluate: () => value, constant: value });

/** Costs one unit when evaluated as it is. */
const attribute = (resolve: PlannedExpression): Plan => ({
  resolve,
  evaluate: (frame) => {
    const value = resolve(frame);
    charge(frame, 1);
    return value;
  },
});

const isConstant = (plan: Plan): plan is Plan & { constant: CelValue } => plan.constant !== undefined;

/** Turns a checked expression into closures. Throws PlanError. */
export function planExpression(checked: CheckedExpr, environment: Environment): { evaluate: PlannedExpression; localCount: number } {
  const planner = new Planner(checked, environment);
  const { evaluate } = planner.plan(checked.expr);
  return { evaluate, localCount: planner.slots.count };
}

export class Planner {
  readonly slots = new Slots();
  readonly #checked: CheckedExpr;
  readonly #environment: Environment;

  constructor(checked: CheckedExpr, environment: Environment) {
    this.#checked = checked;
    this.#environment = environment;
  }

  plan(expr: Expr): Plan {
    const meaning = meaningOf(this.#checked, expr);
    if (meaning !== undefined) return meaning.kind === 'type' ? constantPlan(meaning.type) : attribute(this.#variable(meaning.name));
    switch (expr.kind) {
      case 'literal':
        return constantPlan(expr.value);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr, functionOf(this.#checked, expr)!);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return this.#struct(expr);
      case 'comprehension':
        return planComprehension(this, expr);
      default:
        throw new PlanError(`unsupported expression: ${expr.kind}`);
    }
  }

  #variable(name: string): PlannedExpression {
    const local = this.slots.find(name);
    if (local !== undefined) return local;
    const missing = new CelError(`no such attribute(s): ${name}`);
    return (frame) => (Object.hasOwn(frame.variables, name) ? frame.variables[name]! : missing);
  }

  #select(expr: Select): Plan {
    const operand = this.plan(expr.operand);
    const read = operand.resolve ?? operand.evaluate;
    const { field } = expr;
    if (!expr.isTest) return this.#qualified(operand, (object) => qualify(object, field));
    // The unit that naming costs is given back for a test.
    const evaluate: PlannedExpression = (frame) => {
      const object = read(frame);
      if (object instanceof CelError || isNone(object)) return object instanceof CelError ? object : false;
      const answer = isPresent(object, field);
      charge(frame, 1);
      return answer;
    };
    return { evaluate, resolve: evaluate };
  }

  /** A value read out of another: a unit for that, and a unit for the whole chain unless it starts at a choice. */
  #qualified(operand: Plan, read: (object: CelValue) => CelValue): Plan {
    const readOperand = operand.resolve ?? operand.evaluate;
    const resolve: PlannedExpression = (frame) => {
      const object = readOperand(frame);
      if (object instanceof CelError || isNone(object)) return object;
      const value = read(object);
      if (!isNone(value)) charge(frame, 1);
      return value;
    };
    return isChoice(operand) ? { evaluate: resolve, resolve } : attribute(resolve);
  }

  #call(expr: Call, reference: FunctionReference): Plan {
    const args = (expr.target === undefined || reference.isNamespaced ? expr.args : [expr.target, ...expr.args]).map((arg) => this.plan(arg));
    const [first, second] = args;
    switch (reference.declaration.name) {
      case operators.LOGICAL_AND:
        return { evaluate: planLogical(first!.evaluate, second!.evaluate, false) };
      case operators.LOGICAL_OR:
        return { evaluate: planLogical(first!.evaluate, second!.evaluate, true) };
      case operators.CONDITIONAL:
        return planConditional(first!, second!, args[2]!);
      case operators.EQUALS:
        return { evaluate: planEquality(first!.evaluate, second!.evaluate, false) };
      case operators.NOT_EQUALS:
        return { evaluate: planEquality(first!.evaluate, second!.evaluate, true) };
      case operators.INDEX:
        return this.#index(first!, second!, qualify);
      case operators.OPTIONAL_INDEX:
      case operators.OPTIONAL_SELECT:
        return this.#index(first!, second!, qualifyOptionally);
      case operators.NOT_STRICTLY_FALSE:
        return { evaluate: planNotStrictlyFalse(first!.evaluate) };
      case 'or':
        return { evaluate: planOptionalOr(first!.evaluate, second!.evaluate, false) };
      case 'orValue':
        return { evaluate: planOptionalOr(first!.evaluate, second!.evaluate, true) };
      default:
        return this.#strictCall(reference, args);
    }
  }

  #index(operand: Plan, index: Plan, read: (object: CelValue, key: CelValue) => CelValue): Plan {
    if (isConstant(index)) return this.#qualified(operand, (object) => read(object, index.constant));
    const readOperand = operand.resolve ?? operand.evaluate;
    const readIndex = index.resolve ?? index.evaluate;
    const resolve: PlannedExpression = (frame) => {
      const object = readOperand(frame);
      if (object instanceof CelError || isNone(object)) return object;
      const key = readIndex(frame);
      const value = key instanceof CelError ? key : read(object, key);
      if (!isNone(value)) charge(frame, 1);
      return value;
    };
    return isChoice(operand) ? { evaluate: resolve, resolve } : attribute(resolve);
  }

  #strictCall(reference: FunctionReference, args: readonly Plan[]): Plan {
    const { declaration, overloads } = reference;
    const overloadId = overloads.length === 1 ? overloads[0]!.id : '';
    if (declaration.search !== undefined) return this.#search(declaration.search, overloadId, declaration.name, args);
    const dispatch = dispatchOf(reference);
    const folded = this.#environment.isOptimized ? this.#fold(declaration.name, overloadId, dispatch, args) : undefined;
    if (folded !== undefined) return folded;
    const isVariadic = overloadId === '' && declaration.call === undefined;
    return {
      evaluate: planStrictCall(
        dispatch,
        args.map((arg) => arg.evaluate),
        callCost(declaration.name, overloadId),
        isVariadic,
      ),
    };
  }

  /** A call of a regular expression, compiled ahead where the pattern is a constant. */
  #search(declared: SearchDeclaration, overloadId: string, name: string, args: readonly Plan[]): Plan {
    const special = declared.specialize(args.map((arg) => arg.constant));
    if (special instanceof CelError) throw new PlanError(special.message);
    const search = special ?? declared.call;
    const evaluators = args.map((arg) => arg.evaluate);
    return { evaluate: planSearchCall(search, declared.stepsPerCharacter, evaluators, callCost(name, overloadId), special !== undefined) };
  }

  /** Calls that cost nothing since they are done ahead (cel-go interpreter/decorators.go decOptimize). */
  #fold(name: string, overloadId: string, dispatch: (...args: CelValue[]) => CelValue, args: readonly Plan[]): Plan | undefined {
    const [first, second] = args;
    if (overloadId === 'in_list' && second!.constant instanceof CelList) {
      if (second!.constant.size === 0) return constantPlan(false);
      const evaluate = membershipTest(first!.evaluate, second!.constant);
      return evaluate && { evaluate };
    }
    if (!CONVERSIONS.has(name) || args.length !== 1 || first!.constant === undefined) return undefined;
    const value = dispatch(first!.constant);
    if (value instanceof CelError) throw new PlanError(value.message);
    return constantPlan(value);
  }

  #list(expr: ListExpr): Plan {
    const elements = expr.elements.map((element) => this.plan(element));
    const evaluate = planList(
      elements.map((element) => element.evaluate),
      expr.optionalIndexes,
    );
    return this.#construction(elements, evaluate, LIST_CREATE_COST);
  }

  #map(expr: MapExpr): Plan {
    const entries = expr.entries.map(({ key, value, isOptional }) => ({ key: this.plan(key), value: this.plan(value), isOptional }));
    const parts = entries.map(({ key, value, isOptional }) => ({ key: key.evaluate, value: value.evaluate, isOptional }));
    return this.#construction(
      entries.flatMap(({ key, value }) => [key, value]),
      planMap(parts),
      MAP_CREATE_COST,
    );
  }

  /** Of constants a constant, which costs nothing. */
  #construction(parts: readonly Plan[], construct: PlannedExpression, cost: number): Plan {
    if (this.#environment.isOptimized && parts.every(isConstant)) {
      const value = construct(NO_FRAME);
      if (value instanceof CelError) throw new PlanError(value.message);
      return constantPlan(value);
    }
    return {
      evaluate: (frame) => {
        const value = construct(frame);
        charge(frame, cost);
        return value;
      },
    };
  }

  #struct(expr: StructExpr): Plan {
    const type = this.#checked.types.get(expr)!;
    const provider = this.#environment.providerOf(type.name);
    if (provider?.construct === undefined) throw new PlanError(`unknown type: ${type.name}`);
    const fields = expr.fields.map(({ name, value, isOptional }) => ({ name, value: this.plan(value).evaluate, isOptional }));
    const gather = planFields(fields);
    return {
      evaluate: (frame) => {
        const values = gather(frame);
        const value = values instanceof CelError ? values : (provider.construct!(type.name, values) ?? new CelError(`unknown type '${type.name}'`));
        charge(frame, STRUCT_CREATE_COST);
        return value;
      },
    };
  }
}

/** Constants are evaluated where there is nothing to look at. */
const NO_FRAME = { variables: {}, locals: [], cost: 0, costLimit: Infinity, iterations: 0, regexpSteps: 0, isInterrupted: undefined };

/** Plans whose value is named without a cost of its own: `?:` and tests. */
const isChoice = (plan: Plan): boolean => plan.resolve !== undefined && plan.resolve === plan.evaluate;

const isNone = (value: CelValue): boolean => value instanceof CelOptional && value.value === undefined;

/** `&&` and `||`: the deciding value wins over an error on the other side. */
function planLogical(left: PlannedExpression, right: PlannedExpression, deciding: boolean): PlannedExpression {
  return (frame) => {
    const a = left(frame);
    if (a === deciding) return deciding;
    const b = right(frame);
    if (b === deciding) return deciding;
    if (typeof a !== 'boolean') return a instanceof CelError ? a : noSuchOverload();
    if (typeof b !== 'boolean') return b instanceof CelError ? b : noSuchOverload();
    return !deciding;
  };
}

function planConditional(condition: Plan, whenTrue: Plan, whenFalse: Plan): Plan {
  const test = condition.evaluate;
  const readTrue = whenTrue.resolve ?? whenTrue.evaluate;
  const readFalse = whenFalse.resolve ?? whenFalse.evaluate;
  const evaluate: PlannedExpression = (frame) => {
    const answer = test(frame);
    if (answer === true) return readTrue(frame);
    if (answer === false) return readFalse(frame);
    return answer instanceof CelError ? answer : noSuchOverload();
  };
  return { evaluate, resolve: evaluate };
}

function planEquality(left: PlannedExpression, right: PlannedExpression, isNegated: boolean): PlannedExpression {
  const costOf = isNegated ? inequalityCost : equalityCost;
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    charge(frame, costOf(a, b));
    if (a instanceof CelError) return a;
    if (b instanceof CelError) return b;
    const answer = equal(a, b);
    return isNegated ? answer !== true : answer;
  };
}

function planNotStrictlyFalse(arg: PlannedExpression): PlannedExpression {
  return (frame) => {
    const value = arg(frame);
    charge(frame, 1);
    return typeof value === 'boolean' ? value : true;
  };
}

/** `a.or(b)`, `a.orValue(b)`: `b` is only evaluated where it is needed, and the call itself costs nothing. */
function planOptionalOr(left: PlannedExpression, right: PlannedExpression, isUnwrapped: boolean): PlannedExpression {
  return (frame) => {
    const optional = left(frame);
    if (!(optional instanceof CelOptional)) return optional;
    if (optional.value === undefined) return right(frame);
    return isUnwrapped ? optional.value : optional;
  };
}

function planList(elements: readonly PlannedExpression[], optionalIndexes: ReadonlySet<number>): PlannedExpression {
  return (frame) => {
    const items: CelValue[] = [];
    for (const [index, element] of elements.entries()) {
      const value = element(frame);
      if (value instanceof CelError) return value;
      if (!optionalIndexes.has(index)) items.push(value);
      else if (!(value instanceof CelOptional)) return new CelError(`cannot initialize optional list element from non-optional value ${show(value)}`);
      else if (value.value !== undefined) items.push(value.value);
    }
    return new ArrayList(items);
  };
}

interface EntryPlan {
  key: PlannedExpression;
  value: PlannedExpression;
  isOptional: boolean;
}

function planMap(entries: readonly EntryPlan[]): PlannedExpression {
  return (frame) => {
    const map = new EntryMap();
    for (const entry of entries) {
      const key = entry.key(frame);
      if (key instanceof CelError) return key;
      const value = optionalEntry(key, entry.value(frame), entry.isOptional);
      if (value instanceof CelError) return value;
      if (value === undefined) map.delete(key);
      else if (!map.set(key, value)) return new CelError(`unsupported key type: ${show(key)}`);
    }
    return map;
  };
}

/** What an entry with a question mark adds: undefined for nothing. */
function optionalEntry(key: CelValue, value: CelValue, isOptional: boolean): CelValue | undefined {
  if (!isOptional || value instanceof CelError) return value;
  return value instanceof CelOptional ? value.value : new CelError(`cannot initialize optional entry '${show(key)}' from non-optional value ${show(value)}`);
}

function planFields(
  fields: readonly { name: string; value: PlannedExpression; isOptional: boolean }[],
): (frame: Parameters<PlannedExpression>[0]) => ReadonlyMap<string, CelValue> | CelError {
  return (frame) => {
    const values = new Map<string, CelValue>();
    for (const field of fields) {
      const value = optionalEntry(field.name, field.value(frame), field.isOptional);
      if (value instanceof CelError) return value;
      if (value === undefined) values.delete(field.name);
      else values.set(field.name, value);
    }
    return values;
  };
}
