import type { FunctionReference } from './checker.ts';
import type { CallCost } from './cost/size.ts';
import type { FunctionDeclaration, Overload, Search, SearchDeclaration } from './declarations.ts';
import { charge, withRegexpSteps, type PlannedExpression, type EvaluationFrame } from './frame.ts';
import { typeTest } from './runtime-types.ts';
import { CelError, typeOf, type CelValue } from './values.ts';

/** A function that takes whatever values come and answers with an error for those it does not know. */
export type Dispatch = (...args: CelValue[]) => CelValue;

/** What a call runs: the one implementation that was found when it was checked, or a choice among them by the values. */
export function dispatchOf({ declaration, overloads }: FunctionReference): Dispatch {
  if (declaration.call !== undefined) return declaration.call;
  const single = overloads.length === 1 ? overloads[0]! : undefined;
  return single?.call === undefined ? dynamicDispatch(declaration) : guarded(declaration.name, single);
}

function guarded(name: string, { parameters, call }: Overload): Dispatch {
  const implementation = call as Dispatch;
  const [first, second] = parameters.map(typeTest);
  if (parameters.length === 1) return first === undefined ? implementation : (a) => (first(a) ? implementation(a) : unknownOverload(name, [a]));
  if (parameters.length === 2) {
    return (a, b) => ((first?.(a) ?? true) && (second?.(b) ?? true) ? implementation(a, b) : unknownOverload(name, [a, b]));
  }
  const fits = signatureTest(parameters.map(typeTest));
  return (...args) => (fits(args) ? implementation(...args) : unknownOverload(name, args));
}

function dynamicDispatch({ name, overloads }: FunctionDeclaration): Dispatch {
  const choices = overloads
    .filter(({ call }) => call !== undefined)
    .map(({ parameters, call }) => ({ fits: signatureTest(parameters.map(typeTest)), call: call as Dispatch }));
  return (...args) => {
    for (const { fits, call } of choices) if (fits(args)) return call(...args);
    return unknownOverload(name, args);
  };
}

const signatureTest =
  (tests: readonly (((value: CelValue) => boolean) | undefined)[]) =>
  (args: readonly CelValue[]): boolean =>
    args.length === tests.length && args.every((arg, index) => tests[index]?.(arg) ?? true);

export const unknownOverload = (name: string, args: readonly CelValue[]): CelError =>
  new CelError(`no such overload: ${name}(${args.map((arg) => typeOf(arg).name).join(', ')})`);

/**
 * A call that evaluates its arguments, answers with the first error among them, and else runs. Costs are counted as cel-go's tracker counts: with
 * one or two arguments also where one of them is an error, with more only where none is.
 */
export function planStrictCall(dispatch: Dispatch, args: readonly PlannedExpression[], cost: CallCost, isVariadic: boolean): PlannedExpression {
  if (isVariadic || args.length > 2) return planVariadicCall(dispatch, args, cost);
  const [first, second] = args;
  if (first === undefined) return planVariadicCall(dispatch, [], cost);
  return second === undefined ? planUnaryCall(dispatch, first, cost) : planBinaryCall(dispatch, first, second, cost);
}

/**
 * The same for a search, which takes its steps from what the call cost. With a compiled pattern, errors are answered before anything is counted, as for
 * functions of any number of arguments.
 */
export function planSearchCall(
  search: Search,
  { text: perText, pattern: perPattern }: SearchDeclaration['stepsPerCharacter'],
  args: readonly PlannedExpression[],
  cost: CallCost,
  isCompiled: boolean,
): PlannedExpression {
  const answersErrorsFirst = isCompiled || args.length > 2;
  return (frame) => {
    const values: CelValue[] = [];
    let error: CelError | undefined;
    for (const arg of args) {
      const value = arg(frame);
      if (value instanceof CelError) error ??= value;
      if (error !== undefined && answersErrorsFirst) return error;
      values.push(value);
    }
    const before = frame.cost;
    if (typeof cost === 'number') charge(frame, cost);
    chargeArguments(frame, cost, values);
    if (error !== undefined) return error;
    const included = frame.cost - before + perText * (1 + lengthOf(values[0])) + perPattern * (1 + lengthOf(values[1]));
    return withRegexpSteps(frame, included, (budget) => search(budget, ...values));
  };
}

const lengthOf = (value: CelValue | undefined): number => (typeof value === 'string' ? value.length : 0);

function chargeArguments(frame: EvaluationFrame, cost: CallCost, args: readonly CelValue[]): void {
  if (typeof cost === 'function') charge(frame, cost(args));
}

function chargeResult(frame: EvaluationFrame, cost: CallCost, result: CelValue): void {
  if (typeof cost === 'object') charge(frame, cost.ofResult(result));
}

function planUnaryCall(dispatch: Dispatch, arg: PlannedExpression, cost: CallCost): PlannedExpression {
  if (typeof cost === 'number') {
    return (frame) => {
      const a = arg(frame);
      charge(frame, cost);
      return a instanceof CelError ? a : dispatch(a);
    };
  }
  return (frame) => {
    const a = arg(frame);
    chargeArguments(frame, cost, [a]);
    const result = a instanceof CelError ? a : dispatch(a);
    chargeResult(frame, cost, result);
    return result;
  };
}

function planBinaryCall(dispatch: Dispatch, first: PlannedExpression, second: PlannedExpression, cost: CallCost): PlannedExpression {
  if (typeof cost === 'number') {
    return (frame) => {
      const a = first(frame);
      const b = second(frame);
      charge(frame, cost);
      return a instanceof CelError ? a : b instanceof CelError ? b : dispatch(a, b);
    };
  }
  return (frame) => {
    const a = first(frame);
    const b = second(frame);
    chargeArguments(frame, cost, [a, b]);
    const result = a instanceof CelError ? a : b instanceof CelError ? b : dispatch(a, b);
    chargeResult(frame, cost, result);
    return result;
  };
}

function planVariadicCall(dispatch: Dispatch, args: readonly PlannedExpression[], cost: CallCost): PlannedExpression {
  return (frame) => {
    const values: CelValue[] = [];
    for (const arg of args) {
      const value = arg(frame);
      if (value instanceof CelError) return value;
      values.push(value);
    }
    if (typeof cost === 'number') charge(frame, cost);
    chargeArguments(frame, cost, values);
    const result = dispatch(...values);
    chargeResult(frame, cost, result);
    return result;
  };
}
