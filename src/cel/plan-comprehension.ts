import type { Comprehension, Expr } from './ast.ts';
import { countIteration, type PlannedExpression, type EvaluationFrame } from './frame.ts';
import type { Plan, Planner } from './planner.ts';
import { ArrayList, CelError, CelList, CelMap, GrowingList, GrowingMap, typeOf, type CelValue } from './values.ts';

/** Where variables of comprehensions live. Names are resolved while planning, so that evaluation only indexes an array. */
export class Slots {
  readonly #scopes: ReadonlyMap<string, PlannedExpression>[] = [];
  count = 0;

  allocate(): number {
    return this.count++;
  }

  find(name: string): PlannedExpression | undefined {
    return this.#scopes.findLast((scope) => scope.has(name))?.get(name);
  }

  within<R>(variables: ReadonlyMap<string, PlannedExpression>, plan: () => R): R {
    this.#scopes.push(variables);
    const result = plan();
    this.#scopes.pop();
    return result;
  }
}

const readSlot =
  (slot: number): PlannedExpression =>
  (frame) =>
    frame.locals[slot]!;

export function planComprehension(planner: Planner, expr: Comprehension): Plan {
  const range = planner.plan(expr.range);
  return { evaluate: isBinding(expr) ? planBinding(planner, expr, range) : planFold(planner, expr, range) };
}

/** A fold over nothing, which only gives a name to a value. */
const isBinding = ({ range, condition }: Comprehension): boolean => isEmptyList(range) && condition.kind === 'literal' && condition.value === false;

const isEmptyList = (expr: Expr): boolean => expr.kind === 'list' && expr.elements.length === 0;

/** The value is computed when the name is first used, and once. */
function planBinding(planner: Planner, expr: Comprehension, range: Plan): PlannedExpression {
  const init = planner.plan(expr.init).evaluate;
  const slot = planner.slots.allocate();
  const readOnce: PlannedExpression = (frame) => {
    const known = frame.locals[slot];
    if (known !== undefined) return known;
    const value = init(frame);
    frame.locals[slot] = value;
    return value;
  };
  const result = planner.slots.within(new Map([[expr.accumulator, readOnce]]), () => planner.plan(expr.result)).evaluate;
  return (frame) => {
    range.evaluate(frame);
    frame.locals[slot] = undefined;
    return result(frame);
  };
}

interface Fold {
  accumulator: number;
  variable: number;
  variable2: number | undefined;
  condition: PlannedExpression;
  step: PlannedExpression;
}

function planFold(planner: Planner, expr: Comprehension, range: Plan): PlannedExpression {
  const { slots } = planner;
  const init = planner.plan(expr.init).evaluate;
  const accumulator = slots.allocate();
  const variable = slots.allocate();
  const variable2 = expr.variable2 === undefined ? undefined : slots.allocate();
  const variables = new Map([
    [expr.accumulator, readSlot(accumulator)],
    [expr.variable, readSlot(variable)],
  ]);
  if (variable2 !== undefined) variables.set(expr.variable2!, readSlot(variable2));
  const [condition, step] = slots.within(variables, () => [planner.plan(expr.condition).evaluate, planner.plan(expr.step).evaluate]);
  const result = slots.within(new Map([[expr.accumulator, readSlot(accumulator)]]), () => planner.plan(expr.result).evaluate);
  const fold: Fold = { accumulator, variable, variable2, condition: condition!, step: step! };
  return (frame) => {
    const items = range.evaluate(frame);
    if (items instanceof CelError) return items;
    frame.locals[accumulator] = growing(init(frame));
    if (items instanceof CelList) foldList(frame, items, fold);
    else if (items instanceof CelMap) foldMap(frame, items, fold);
    else return new CelError(`got '${typeOf(items).name}', expected iterable type`);
    return settled(result(frame));
  };
}

/** Empty containers are replaced by ones that can grow in place, since nobody else can see them. */
function growing(init: CelValue): CelValue {
  if (init instanceof CelList && init.size === 0) return new GrowingList();
  return init instanceof CelMap && init.size === 0 ? new GrowingMap() : init;
}

const settled = (value: CelValue): CelValue => (value instanceof GrowingList ? new ArrayList(value.items) : value);

function foldList(frame: EvaluationFrame, list: CelList, fold: Fold): void {
  const { locals } = frame;
  const { size } = list;
  for (let index = 0; index < size; index++) {
    if (fold.variable2 === undefined) locals[fold.variable] = list.get(index);
    else {
      locals[fold.variable] = index;
      locals[fold.variable2] = list.get(index);
    }
    if (!stepOnce(frame, fold)) return;
  }
}

function foldMap(frame: EvaluationFrame, map: CelMap, fold: Fold): void {
  const { locals } = frame;
  for (const key of map.keys()) {
    locals[fold.variable] = key;
    if (fold.variable2 !== undefined) locals[fold.variable2] = map.find(key)!;
    if (!stepOnce(frame, fold)) return;
  }
}

/** Whether to go on. */
function stepOnce(frame: EvaluationFrame, fold: Fold): boolean {
  if (fold.condition(frame) === false) return false;
  frame.locals[fold.accumulator] = fold.step(frame);
  countIteration(frame);
  return true;
}
