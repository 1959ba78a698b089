import type { CelValue } from './values.ts';

/** Values of variables by name. Only own properties count. */
export type Activation = Readonly<Record<string, CelValue>>;

/** What one evaluation carries along. */
export interface Frame {
  readonly variables: Activation;
  /** Variables of comprehensions, by the slot that the planner gave them; undefined where a bound name was not needed yet. */
  readonly locals: (CelValue | undefined)[];
  cost: number;
  readonly costLimit: number;
  iterations: number;
  readonly isInterrupted: (() => boolean) | undefined;
}

/** A part of an expression, ready to run. Errors are answered, not thrown. */
export type Evaluator = (frame: Frame) => CelValue;

/** Ends an evaluation that costs too much or takes too long. */
export class Cancelled extends Error {
  readonly reason: 'costLimitExceeded' | 'interrupted';

  constructor(reason: Cancelled['reason']) {
    super(reason === 'interrupted' ? 'operation interrupted' : 'operation cancelled: actual cost limit exceeded');
    this.reason = reason;
  }
}

export function charge(frame: Frame, cost: number): void {
  frame.cost += cost;
  if (frame.cost > frame.costLimit) throw new Cancelled('costLimitExceeded');
}

/** As Kubernetes sets it (apiserver/pkg/apis/cel CheckFrequency). */
const ITERATIONS_BETWEEN_CHECKS = 100;

export function countIteration(frame: Frame): void {
  if (++frame.iterations % ITERATIONS_BETWEEN_CHECKS === 0 && frame.isInterrupted?.()) throw new Cancelled('interrupted');
}
