import type { Call, Comprehension, Expr, ListExpr, MapExpr, Select } from '../ast.ts';
import { functionOf, meaningOf, type CheckedExpr } from '../checker.ts';
import { ACCUMULATOR } from '../macro.ts';
import { isOptional, type CelType } from '../types.ts';
import { codePointCount } from '../values.ts';
import { LIST_CREATE_COST, MAP_CREATE_COST, STRUCT_CREATE_COST } from './factors.ts';
import { estimateStandardCall } from './standard-estimates.ts';
import { estimateLibraryCall } from './library-estimates.ts';
import { sizeWith, type CallEstimate, type CostNode, type SizeEstimator } from './node.ts';
import { ONE, UNBOUNDED, UNKNOWN_SIZE, NO_COST, exactly, plus, sum, times, union, type CostEstimate, type SizeEstimate } from './range.ts';

/** Sizes of what is inside a list or map: of indexes or keys, and of elements or values. */
interface EntrySizes {
  readonly isList: boolean;
  readonly key: SizeEstimate;
  readonly value: SizeEstimate;
}

/** A variable of a comprehension. */
interface Local {
  readonly path: readonly string[] | undefined;
  readonly size: SizeEstimate | undefined;
  readonly entries: EntrySizes | undefined;
}

/** The least and the most that a checked expression can cost (cel-go checker/cost.go, with tests of presence free as Kubernetes has them). */
export const estimateCost = (checked: CheckedExpr, sizes: SizeEstimator): CostEstimate => new Estimation(checked, sizes).cost(checked.expr);

class Estimation {
  readonly #checked: CheckedExpr;
  readonly #sizes: SizeEstimator;
  readonly #paths = new Map<Expr, readonly string[] | undefined>();
  readonly #computedSizes = new Map<Expr, SizeEstimate>();
  readonly #computedEntries = new Map<Expr, EntrySizes>();
  readonly #locals = new Map<string, Local[]>();

  constructor(checked: CheckedExpr, sizes: SizeEstimator) {
    this.#checked = checked;
    this.#sizes = sizes;
  }

  cost(expr: Expr): CostEstimate {
    const meaning = meaningOf(this.#checked, expr);
    if (meaning !== undefined) return this.#name(expr, meaning.kind === 'type' ? meaning.type.name : meaning.name);
    switch (expr.kind) {
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return plus(sum(expr.fields.map((field) => this.cost(field.value))), exactly(STRUCT_CREATE_COST));
      case 'comprehension':
        return isBinding(expr) ? this.#binding(expr) : this.#comprehension(expr);
      default:
        return NO_COST;
    }
  }

  #typeOf(expr: Expr): CelType {
    return this.#checked.types.get(expr)!;
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #within<R>(name: string, local: Local, read: () => R): R {
    const stack = this.#locals.get(name) ?? [];
    this.#locals.set(name, stack);
    stack.push(local);
    const result = read();
    stack.pop();
    return result;
  }

  #name(expr: Expr, name: string): CostEstimate {
    const local = this.#local(name);
    this.#paths.set(expr, local === undefined ? [name] : local.path);
    return ONE;
  }

  #select(expr: Select): CostEstimate {
    const operand = this.cost(expr.operand);
    if (expr.isTest) return operand;
    const { kind } = this.#typeOf(expr.operand);
    this.#paths.set(expr, [...(this.#pathOf(expr.operand) ?? []), expr.field]);
    return kind === 'map' || kind === 'struct' || kind === 'param' ? plus(operand, ONE) : operand;
  }

  #call(expr: Call): CostEstimate {
    const reference = functionOf(this.#checked, expr);
    if (reference?.declaration.name === 'dyn') return this.#dyn(expr);
    const argCosts = expr.args.map((arg) => this.cost(arg));
    const args = expr.args.map((arg) => this.#node(arg));
    if (reference === undefined) return NO_COST;
    const receiver = reference.isNamespaced ? undefined : expr.target;
    const targetCost = receiver === undefined ? NO_COST : this.cost(receiver);
    const target = receiver && this.#node(receiver);
    let range: CostEstimate = { min: UNBOUNDED, max: 0 };
    let resultSize: SizeEstimate | undefined;
    for (const { id } of reference.overloads) {
      const estimate = this.#overload(expr, reference.declaration.name, id, target, args, argCosts);
      range = union(range, estimate.cost);
      if (estimate.resultSize !== undefined) resultSize = resultSize === undefined ? estimate.resultSize : union(resultSize, estimate.resultSize);
      if (id === 'index_list' || id === 'index_map') {
        resultSize = this.#entriesOf(expr.args[0]!)?.value;
        this.#paths.set(expr, [...(this.#pathOf(expr.args[0]!) ?? []), id === 'index_list' ? '@items' : '@values']);
      }
      resultSize ??= this.#sizeOf(expr);
    }
    if (resultSize !== undefined) this.#computedSizes.set(expr, resultSize);
    return plus(targetCost, range);
  }

  #dyn(expr: Call): CostEstimate {
    const cost = this.cost(expr.args[0]!);
    this.#copySizes(expr, expr.args[0]!);
    return plus(ONE, cost);
  }

  #overload(
    expr: Call,
    name: string,
    overloadId: string,
    target: CostNode | undefined,
    args: readonly CostNode[],
    argCosts: readonly CostEstimate[],
  ): CallEstimate {
    const library = estimateLibraryCall({ name, overloadId, target, args, sizeOf: sizeWith(this.#sizes) });
    if (library !== undefined) return { ...library, cost: plus(library.cost, sum(argCosts)) };
    if (overloadId === 'conditional') this.#joinEntries(expr, expr.args[1]!, expr.args[2]!);
    if (overloadId === 'add_list' || overloadId === 'add_string' || overloadId === 'add_bytes') this.#joinEntries(expr, expr.args[0]!, expr.args[1]!);
    return estimateStandardCall(overloadId, target, args, argCosts);
  }

  #joinEntries(expr: Expr, left: Expr, right: Expr): void {
    const a = this.#entriesOf(left);
    const b = this.#entriesOf(right);
    if (a && b) this.#computedEntries.set(expr, { isList: a.isList, key: union(a.key, b.key), value: union(a.value, b.value) });
  }

  #list(expr: ListExpr): CostEstimate {
    const costs = expr.elements.map((element) => this.cost(element));
    this.#computedEntries.set(expr, { isList: true, key: ONE, value: this.#unionOfSizes(expr.elements) });
    return plus(sum(costs), exactly(LIST_CREATE_COST));
  }

  #unionOfSizes(parts: readonly Expr[]): SizeEstimate {
    return parts.length === 0 ? NO_COST : parts.map((part) => this.#sizeOf(part) ?? UNKNOWN_SIZE).reduce(union);
  }

  #map(expr: MapExpr): CostEstimate {
    const costs = expr.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)]);
    this.#computedEntries.set(expr, {
      isList: false,
      key: this.#unionOfSizes(expr.entries.map(({ key }) => key)),
      value: this.#unionOfSizes(expr.entries.map(({ value }) => value)),
    });
    return plus(sum(costs), exactly(MAP_CREATE_COST));
  }

  #comprehension(expr: Comprehension): CostEstimate {
    const before = plus(this.cost(expr.range), this.cost(expr.init));
    const accumulator = { path: this.#pathOf(expr.init), size: this.#sizeOf(expr.init), entries: this.#entriesOf(expr.init) };
    const [loop, result] = this.#within(expr.accumulator, accumulator, () => [this.#loop(expr), this.cost(expr.result)] as const);
    const count = this.#sizeOf(expr.range) ?? UNKNOWN_SIZE;
    if (expr.init.kind === 'literal') this.#copySize(expr, expr.init);
    if (expr.init.kind === 'list' || expr.init.kind === 'map') {
      this.#computedSizes.set(expr, count);
      const entries = this.#entriesOf(expr.step);
      if (entries !== undefined) this.#computedEntries.set(expr, entries);
    }
    return plus(plus(before, result), times(count, loop));
  }

  #loop(expr: Comprehension): CostEstimate {
    const round = (): CostEstimate => plus(this.cost(expr.condition), this.cost(expr.step));
    const entries = this.#entriesOf(expr.range);
    const isList = entries?.isList ?? this.#typeOf(expr.range).kind === 'list';
    const path = this.#pathOf(expr.range) ?? [];
    const key: Local = { path: [...path, isList ? '@indices' : '@keys'], size: entries?.key, entries: undefined };
    const value: Local = { path: [...path, isList ? '@items' : '@values'], size: entries?.value, entries: undefined };
    if (expr.variable2 !== undefined) return this.#within(expr.variable, key, () => this.#within(expr.variable2!, value, round));
    return this.#within(expr.variable, isList ? value : key, round);
  }

  #binding(expr: Comprehension): CostEstimate {
    const before = plus(this.cost(expr.range), this.cost(expr.init));
    const bound = { path: this.#pathOf(expr.init), size: this.#sizeOf(expr.init), entries: this.#entriesOf(expr.init) };
    return this.#within(expr.accumulator, bound, () => {
      const result = this.cost(expr.result);
      this.#copySizes(expr, expr.result);
      return plus(before, result);
    });
  }

  #copySizes(to: Expr, from: Expr): void {
    this.#copySize(to, from);
    const entries = this.#entriesOf(from);
    if (entries !== undefined) this.#computedEntries.set(to, entries);
  }

  #copySize(to: Expr, from: Expr): void {
    const size = this.#sizeOf(from);
    if (size !== undefined) this.#computedSizes.set(to, size);
  }

  #pathOf(expr: Expr): readonly string[] | undefined {
    const local = expr.kind === 'ident' ? this.#local(expr.name) : undefined;
    return local === undefined ? this.#paths.get(expr) : local.path;
  }

  #node(expr: Expr): CostNode {
    const path = this.#pathOf(expr);
    return { path: path?.[0] === ACCUMULATOR ? undefined : path, type: this.#typeOf(expr), expr, computedSize: this.#sizeOf(expr) };
  }

  #sizeOf(expr: Expr): SizeEstimate | undefined {
    const known = this.#computedSizes.get(expr) ?? sizeInText(expr);
    if (known !== undefined) return known;
    const type = this.#typeOf(expr);
    const estimated = this.#sizes({ path: this.#pathOf(expr), type, expr, computedSize: undefined });
    if (estimated !== undefined) {
      this.#computedSizes.set(expr, estimated);
      return estimated;
    }
    if (isScalar(type)) return ONE;
    return expr.kind === 'ident' ? this.#local(expr.name)?.size : undefined;
  }

  #entriesOf(expr: Expr): EntrySizes | undefined {
    return this.#computedEntries.get(expr) ?? (expr.kind === 'ident' ? this.#local(expr.name)?.entries : undefined);
  }
}

const isBinding = ({ range, condition, accumulator }: Comprehension): boolean =>
  range.kind === 'list' && range.elements.length === 0 && condition.kind === 'literal' && condition.value === false && accumulator !== ACCUMULATOR;

/** What is written out has the size that it is written with. */
function sizeInText(expr: Expr): SizeEstimate | undefined {
  if (expr.kind === 'list') return exactly(expr.elements.length);
  if (expr.kind === 'map') return exactly(expr.entries.length);
  if (expr.kind !== 'literal') return undefined;
  if (typeof expr.value === 'string') return exactly(codePointCount(expr.value));
  return expr.value instanceof Uint8Array ? exactly(expr.value.length) : ONE;
}

function isScalar(type: CelType): boolean {
  if (isOptional(type)) return isScalar(type.parameters[0]!);
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind);
}
