import type { Expr } from '../ast.ts';
import type { CelType } from '../types.ts';
import { UNKNOWN_SIZE, type CostEstimate, type SizeEstimate } from './range.ts';

/** A part of an expression, as estimates see it. */
export interface CostNode {
  /**
   * From a variable to this value where it is data that was declared: `['self', 'spec', 'containers', '@items', 'name']`; elements of lists are
   * `@items`, keys and values of maps `@keys` and `@values`, places in lists `@indices`.
   */
  readonly path: readonly string[] | undefined;
  readonly type: CelType;
  readonly expr: Expr | undefined;
  /** What follows from the expression itself. */
  readonly computedSize: SizeEstimate | undefined;
}

/** How large declared data can be; undefined where that is not known. */
export type SizeEstimator = (node: CostNode) => SizeEstimate | undefined;

/** What a call costs beside its arguments, and how large its result is. */
export interface CallEstimate {
  readonly cost: CostEstimate;
  readonly resultSize?: SizeEstimate;
}

export interface EstimatedCall {
  readonly name: string;
  readonly overloadId: string;
  readonly target: CostNode | undefined;
  readonly args: readonly CostNode[];
  /** The computed size, or what the estimator says, or no bound. */
  sizeOf(node: CostNode): SizeEstimate;
}

/** The elements of a list that is not taken apart. */
export function elementNode(list: CostNode): CostNode | undefined {
  const type = list.type.parameters[0];
  if (type === undefined) return undefined;
  return { path: list.path && [...list.path, '@items'], type, expr: undefined, computedSize: undefined };
}

export const sizeWith =
  (estimator: SizeEstimator) =>
  (node: CostNode): SizeEstimate =>
    node.computedSize ?? estimator(node) ?? UNKNOWN_SIZE;
