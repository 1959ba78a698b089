import type { StepBudget } from '../util/step-budget.ts';
import type { Call } from './ast.ts';
import type { CheckedExpr } from './checker.ts';
import type { Macro } from './macro.ts';
import type { CelIssue } from './source.ts';
import type { CelType } from './types.ts';
import type { CelError, CelValue } from './values.ts';

/** Called with values of the declared types only, never with errors; a receiver comes first. */
export type Implementation = (...args: never[]) => CelValue;

/** One signature of a function. Costs are counted by the id, so ids are those of cel-go and Kubernetes. */
export interface Overload {
  readonly id: string;
  /** A receiver comes first. */
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  /** `a.f(b)`, not `f(a, b)`. */
  readonly isMember: boolean;
  /** Undefined where the function has one implementation for all overloads, or the planner knows it. */
  readonly call: Implementation | undefined;
}

/** A search of a regular expression. Takes values of any types and answers with an error for those it does not know. Throws BudgetExceeded. */
export type Search = (budget: StepBudget, ...args: CelValue[]) => CelValue;

/** How a function runs whose work does not follow from the sizes of its arguments. */
export interface SearchDeclaration {
  readonly call: Search;
  /**
   * A faster implementation where some arguments are known when the expression is compiled (undefined for those that are not); undefined where
   * there is none, an error where the expression can never work.
   */
  readonly specialize: (constants: readonly (CelValue | undefined)[]) => Search | CelError | undefined;
  /**
   * How many steps its cost stands for, beside one for each unit: by character of the text, for looking at each, and by character of the pattern, for making
   * a program and states of it.
   */
  readonly stepsPerCharacter: { readonly text: number; readonly pattern: number };
}

export interface FunctionDeclaration {
  readonly name: string;
  /** In the order in which they are tried. */
  readonly overloads: readonly Overload[];
  /** For all overloads: takes values of any types and answers with an error for those it does not know. */
  readonly call?: (...args: CelValue[]) => CelValue;
  /** For regular expressions, in place of all other implementations. */
  readonly search?: SearchDeclaration;
  /** What is wrong with a call whose types fit. */
  readonly validate?: (call: Call, checked: CheckedExpr) => readonly CelIssue[];
}

/** Functions, macros and types that come together. */
export interface Library {
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: readonly Macro[];
  /** Types whose names can stand in expressions. */
  readonly types?: readonly CelType[];
  /** Whether it brings `a.?b` and its like. */
  readonly hasOptionalSyntax?: boolean;
}

export const overload = (id: string, parameters: readonly CelType[], result: CelType, call?: Implementation): Overload => ({
  id,
  parameters,
  result,
  isMember: false,
  call,
});

export const member = (id: string, parameters: readonly CelType[], result: CelType, call?: Implementation): Overload => ({
  ...overload(id, parameters, result, call),
  isMember: true,
});

export const fn = (name: string, ...overloads: Overload[]): FunctionDeclaration => ({ name, overloads });

/** Where types come from that are declared outside of libraries: schemas of resources, objects that expressions can make. */
export interface TypeProvider {
  findType(name: string): CelType | undefined;
  /** The type of a field of a type that `findType` knows. */
  findField(typeName: string, field: string): CelType | undefined;
  /** A value of such a type; fields that were left out are not there. Undefined where the provider does not know the type. */
  construct?(typeName: string, fields: ReadonlyMap<string, CelValue>): CelValue | undefined;
}
