/* Whether what clients saw of one object can be explained by one order of their operations, each between its call and its answer (Wing and Gong, 1993). */

/** The state of one key: the unique id of what was last written, or undefined where it does not exist. */
export type State = string | undefined;

/** `unknown`: the connection broke or time ran out, so it may have happened, or may happen yet. */
export type Outcome = 'done' | 'refused' | 'unknown';

export interface Operation {
  kind: 'read' | 'write' | 'delete';
  /** What a write or a delete was conditional on. */
  expected: State;
  /** What a read found, or a write wrote. */
  value: State;
  outcome: Outcome;
  calledAt: number;
  /** Infinity where the outcome is unknown. */
  answeredAt: number;
}

/** More would be a fault of the test's: histories are kept short. */
const MAX_STEPS = 1_000_000;

/**
 * The state after the operation, where it could have been answered so in this state; `false` where not. One of unknown outcome is placed only where it
 * changes something: where it does not, it need not be placed at all.
 */
function step({ kind, expected, value, outcome }: Operation, state: State): { state: State } | false {
  if (kind === 'read') return outcome === 'done' && state === value && { state };
  if (outcome === 'refused') return state !== expected && { state };
  return state === expected && { state: kind === 'write' ? value : undefined };
}

interface Choice {
  index: number;
  before: State;
}

/**
 * Looks for an order that explains the history, which begins with the key in the state `initial`. Throws an error that shows the history where there is
 * none. Operations that may have happened or not are placed where they fit.
 */
export function assertLinearizable(key: string, history: readonly Operation[], initial: State = undefined): void {
  const operations = history.toSorted((a, b) => a.calledAt - b.calledAt);
  const isPlaced = operations.map(() => false);
  const seen = new Set<string>();
  const path: Choice[] = [];
  let state = initial;
  let from = 0;
  for (let steps = 0; ; steps++) {
    if (steps > MAX_STEPS) throw new Error(`${key}: the history of ${operations.length} operations is too long to check`);
    if (operations.every(({ outcome }, i) => isPlaced[i] || outcome === 'unknown')) return;
    const next = findNext(operations, isPlaced, state, from, seen);
    if (next !== undefined) {
      path.push({ index: next.index, before: state });
      isPlaced[next.index] = true;
      state = next.state;
      from = 0;
      continue;
    }
    const last = path.pop();
    if (last === undefined) throw new Error(`${key}: no order explains what the clients saw:\n${operations.map(line).join('\n')}`);
    isPlaced[last.index] = false;
    state = last.before;
    from = last.index + 1;
  }
}

/** The next operation, from `from` on, that can come first of those that are not yet placed: none of the others was answered before it was called. */
function findNext(
  operations: readonly Operation[],
  isPlaced: readonly boolean[],
  state: State,
  from: number,
  seen: Set<string>,
): { index: number; state: State } | undefined {
  let firstAnswer = Infinity;
  for (const [i, { answeredAt }] of operations.entries()) if (!isPlaced[i]) firstAnswer = Math.min(firstAnswer, answeredAt);
  for (let index = from; index < operations.length; index++) {
    if (isPlaced[index]) continue;
    const operation = operations[index]!;
    if (operation.calledAt > firstAnswer) return undefined;
    const after = step(operation, state);
    if (!after) continue;
    const memory = `${isPlaced.map((placed, i) => (placed || i === index ? 1 : 0)).join('')} ${after.state}`;
    if (seen.has(memory)) continue;
    seen.add(memory);
    return { index, state: after.state };
  }
  return undefined;
}

const line = ({ kind, expected, value, outcome, calledAt, answeredAt }: Operation): string =>
  `${calledAt.toFixed(2)}–${answeredAt.toFixed(2)} ${kind} ${kind === 'read' ? '' : `if ${expected ?? 'absent'} `}→ ${value ?? 'absent'}: ${outcome}`;
