import type { CelValue } from './values.ts';

/** A position in the text of an expression, in code points from its start. */
export type Offset = number;

/** A parsed expression. Nodes are compared by identity: what the checker learns of them is kept beside them. */
export type Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | StructExpr | Comprehension | Unspecified;

export interface Literal {
  kind: 'literal';
  offset: Offset;
  value: CelValue;
}

export interface Ident {
  kind: 'ident';
  offset: Offset;
  /** With a leading dot where it is to be looked up from the root only. */
  name: string;
}

export interface Select {
  kind: 'select';
  offset: Offset;
  operand: Expr;
  field: string;
  /** `has(operand.field)` */
  isTest: boolean;
}

export interface Call {
  kind: 'call';
  offset: Offset;
  /** Operators have names such as `_+_`. */
  name: string;
  target: Expr | undefined;
  args: readonly Expr[];
}

export interface ListExpr {
  kind: 'list';
  offset: Offset;
  elements: readonly Expr[];
  /** Places of elements written with a question mark. */
  optionalIndexes: ReadonlySet<number>;
}

export interface MapExpr {
  kind: 'map';
  offset: Offset;
  entries: readonly MapEntry[];
}

export interface MapEntry {
  offset: Offset;
  key: Expr;
  value: Expr;
  isOptional: boolean;
}

export interface StructExpr {
  kind: 'struct';
  offset: Offset;
  typeName: string;
  fields: readonly StructField[];
}

export interface StructField {
  offset: Offset;
  name: string;
  value: Expr;
  isOptional: boolean;
}

/**
 * A fold, which is what macros such as `all` and `map` become:
 *
 *     accumulator = init
 *     for variable[, variable2] of range: if !condition break; accumulator = step
 *     answer result
 */
export interface Comprehension {
  kind: 'comprehension';
  offset: Offset;
  range: Expr;
  variable: string;
  /** With it, `variable` is the index or key and this one the value. */
  variable2: string | undefined;
  accumulator: string;
  init: Expr;
  condition: Expr;
  step: Expr;
  result: Expr;
}

/** Stands where the text was wrong. */
export interface Unspecified {
  kind: 'unspecified';
  offset: Offset;
}

/** The expressions directly inside, in the order of the text. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.elements;
    case 'map':
      return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'struct':
      return expr.fields.map((field) => field.value);
    case 'comprehension':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result];
    default:
      return [];
  }
}

/** `a.b.c` as a name that might be declared; undefined where the expression is more than names and dots. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.isTest) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}
