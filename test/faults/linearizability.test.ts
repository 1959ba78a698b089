import { describe, expect, test } from 'vitest';
import { type Operation, type Outcome, type State, assertLinearizable } from './linearizability.ts';

/* Histories are drawn as lines of time: `a |--|` is an operation from where its first stroke stands to where its last one does. */

const at = (kind: Operation['kind'], drawn: string, expected: State, value: State, outcome: Outcome = 'done'): Operation => ({
  kind,
  expected,
  value,
  outcome,
  calledAt: drawn.indexOf('|'),
  answeredAt: outcome === 'unknown' ? Infinity : drawn.lastIndexOf('|'),
});
const read = (drawn: string, value: State): Operation => at('read', drawn, undefined, value);
const write = (drawn: string, expected: State, value: State, outcome?: Outcome): Operation => at('write', drawn, expected, value, outcome);
const remove = (drawn: string, expected: State, outcome?: Outcome): Operation => at('delete', drawn, expected, undefined, outcome);

const check = (...history: Operation[]): string => {
  try {
    assertLinearizable('k', history);
    return 'fine';
  } catch (error) {
    return (error as Error).message.split(':\n', 1)[0]!;
  }
};
const WRONG = 'k: no order explains what the clients saw';

describe('a history is fine where', () => {
  test('operations follow each other', () => {
    expect(check(read('||', undefined), write('  ||', undefined, 'a'), read('    ||', 'a'), write('      ||', 'a', 'b'), remove('        ||', 'b'))).toBe(
      'fine',
    );
  });
  test('operations at the same time are seen in either order', () => {
    expect(check(write('|----|', undefined, 'a'), read(' |-|', undefined), read('    |-|', 'a'))).toBe('fine');
    expect(check(write('|----|', undefined, 'a'), write(' |---|', 'a', 'b'), read('  |--|', 'b'))).toBe('fine');
  });
  test('of two that expect the same, one is refused', () => {
    expect(check(write('|--|', undefined, 'a'), write(' |--|', undefined, 'b', 'refused'), read('     ||', 'a'))).toBe('fine');
  });
  test('an unknown one has happened, has not, or happens later', () => {
    expect(check(write('|-|', undefined, 'a', 'unknown'), read('    ||', 'a'))).toBe('fine');
    expect(check(write('|-|', undefined, 'a', 'unknown'), read('    ||', undefined))).toBe('fine');
    expect(check(write('|-|', undefined, 'a', 'unknown'), read('    ||', undefined), read('       ||', 'a'))).toBe('fine');
    expect(check(write('||', undefined, 'a'), remove('   |-|', 'a', 'unknown'), read('        ||', 'a'), write('           ||', undefined, 'c'))).toBe('fine');
  });
});

describe('a history is refused where', () => {
  test('a read is stale', () => {
    expect(check(write('||', undefined, 'a'), read('   ||', undefined))).toBe(WRONG);
    expect(check(write('||', undefined, 'a'), write('   ||', 'a', 'b'), read('      ||', 'b'), read('         ||', 'a'))).toBe(WRONG);
  });
  test('an acknowledged write is lost', () => {
    expect(check(write('||', undefined, 'a'), write('   ||', 'a', 'b'), read('      ||', 'a'))).toBe(WRONG);
  });
  test('two that expect the same are both done', () => {
    expect(check(write('|--|', undefined, 'a'), write(' |--|', undefined, 'b'))).toBe(WRONG);
  });
  test('one is refused that nothing stood against', () => {
    expect(check(write('||', undefined, 'a'), write('   ||', 'a', 'b', 'refused'))).toBe(WRONG);
  });
  test('an unknown one is seen and then is gone again', () => {
    expect(check(write('|-|', undefined, 'a', 'unknown'), read('    ||', 'a'), read('       ||', undefined))).toBe(WRONG);
  });
  test('a value was never written', () => {
    expect(check(read('||', 'x'))).toBe(WRONG);
  });
});

test('many unknown operations that expect the same are checked quickly', () => {
  const lost = Array.from({ length: 60 }, (_, i) => write(`${' '.repeat(2 + i)}|-|`, 'a', `lost-${i}`, 'unknown'));
  const reads = Array.from({ length: 30 }, (_, i) => read(`${' '.repeat(3 + 2 * i)}||`, 'a'));
  expect(check(write('||', undefined, 'a'), ...lost, ...reads)).toBe('fine');
  expect(check(write('||', undefined, 'a'), ...lost, ...reads, read(`${' '.repeat(90)}||`, 'lost-59'))).toBe('fine');
  expect(check(write('||', undefined, 'a'), ...lost, ...reads, read(`${' '.repeat(90)}||`, 'x'))).toBe(WRONG);
});

test('long histories with many unknown operations are checked quickly', () => {
  const history: Operation[] = [];
  let state: State;
  for (let i = 0; i < 300; i++) {
    const value = `v${i}`;
    const isLost = i % 5 === 0;
    history.push({ kind: 'write', expected: state, value, outcome: isLost ? 'unknown' : 'done', calledAt: i, answeredAt: isLost ? Infinity : i + 0.9 });
    if (!isLost) state = value;
    history.push({ kind: 'read', expected: undefined, value: state, outcome: 'done', calledAt: i + 0.1, answeredAt: i + 0.95 });
  }
  expect(() => assertLinearizable('k', history)).not.toThrow();
});
