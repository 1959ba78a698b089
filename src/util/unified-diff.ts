/**
 * A unified diff of lines, as github.com/pmezard/go-difflib makes it (Python's difflib): which lines are held to be the same is its heuristic, and messages
 * show the outcome.
 */
const CONTEXT_LINES = 3;
/** From this length on, lines that make up more than a hundredth of the text are no anchors. */
const POPULAR_FROM_LINES = 200;

interface Block {
  a: number;
  b: number;
  size: number;
}

/** A run of equal lines, or of lines that stand in for each other; either side may be empty. */
interface Change {
  isEqual: boolean;
  fromA: number;
  toA: number;
  fromB: number;
  toB: number;
}

/** Comparing takes more steps than the caller allows. */
export class TooManySteps extends Error {}

/** Empty where nothing differs. Every line of it ends in a newline. Where all lines differ, the steps grow with the square of their number: throws TooManySteps. */
export function unifiedDiff(before: string, after: string, maxSteps: number): string {
  const a = before.split('\n');
  const b = after.split('\n');
  return hunksOf(changesBetween(a, b, maxSteps))
    .map((hunk) => printHunk(hunk, a, b))
    .join('');
}

function changesBetween(a: readonly string[], b: readonly string[], maxSteps: number): Change[] {
  const changes: Change[] = [];
  let fromA = 0;
  let fromB = 0;
  for (const { a: atA, b: atB, size } of [...matchingBlocks(a, b, maxSteps), { a: a.length, b: b.length, size: 0 }]) {
    if (fromA < atA || fromB < atB) changes.push({ isEqual: false, fromA, toA: atA, fromB, toB: atB });
    if (size > 0) changes.push({ isEqual: true, fromA: atA, toA: atA + size, fromB: atB, toB: atB + size });
    fromA = atA + size;
    fromB = atB + size;
  }
  return changes;
}

function matchingBlocks(a: readonly string[], b: readonly string[], maxSteps: number): Block[] {
  const matcher = new LineMatcher(a, b, maxSteps);
  const found: Block[] = [];
  const queue: Range[] = [[0, a.length, 0, b.length]];
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [fromA, toA, fromB, toB] = next;
    const block = matcher.longestMatch(next);
    if (block.size === 0) continue;
    found.push(block);
    if (fromA < block.a && fromB < block.b) queue.push([fromA, block.a, fromB, block.b]);
    if (block.a + block.size < toA && block.b + block.size < toB) queue.push([block.a + block.size, toA, block.b + block.size, toB]);
  }
  return joinAdjacent(found.toSorted((left, right) => left.a - right.a || left.b - right.b));
}

/** Where each line stands, but for those that are too frequent. */
function anchorsOf(lines: readonly string[]): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const at = positions.get(line);
    if (at) at.push(index);
    else positions.set(line, [index]);
  }
  if (lines.length < POPULAR_FROM_LINES) return positions;
  const limit = Math.floor(lines.length / 100) + 1;
  for (const [line, at] of positions) if (at.length > limit) positions.delete(line);
  return positions;
}

const NOWHERE: readonly number[] = [];

/** From and to, of either side. */
type Range = readonly [fromA: number, toA: number, fromB: number, toB: number];

class LineMatcher {
  readonly #a: readonly string[];
  readonly #b: readonly string[];
  /** For each line of `a`, where in `b` it stands. */
  readonly #anchors: readonly (readonly number[])[];
  /**
   * At j + 1 the length of the match that ends with the line of `a` that is looked at and with line j of `b`; and the same for the line before it. All zero
   * between searches.
   */
  readonly #lengths: readonly [Int32Array, Int32Array];
  #stepsLeft: number;

  constructor(a: readonly string[], b: readonly string[], maxSteps: number) {
    const positions = anchorsOf(b);
    this.#a = a;
    this.#b = b;
    this.#anchors = a.map((line) => positions.get(line) ?? NOWHERE);
    if (this.#anchors.reduce((sum, at) => sum + at.length, 0) > maxSteps) throw new TooManySteps();
    this.#lengths = [new Int32Array(b.length + 1), new Int32Array(b.length + 1)];
    this.#stepsLeft = maxSteps;
  }

  longestMatch(within: Range): Block {
    const [fromA, toA, fromB, toB] = within;
    const anchors = this.#anchors;
    let [lengths, lengthsBefore] = this.#lengths;
    let [bestA, bestB, bestSize] = [fromA, fromB, 0];
    let before = NOWHERE;
    let steps = toA - fromA;
    for (let i = fromA; i <= toA; i++) {
      const now = i < toA ? anchors[i]! : NOWHERE;
      if (now === NOWHERE && before === NOWHERE) continue;
      for (let at = 0; at < now.length; at++) {
        const j = now[at]!;
        if (j < fromB) continue;
        if (j >= toB) break;
        const size = lengthsBefore[j]! + 1;
        lengths[j + 1] = size;
        if (size > bestSize) [bestA, bestB, bestSize] = [i - size + 1, j - size + 1, size];
      }
      steps += now.length;
      for (let at = 0; at < before.length; at++) lengthsBefore[before[at]! + 1] = 0;
      const cleared = lengthsBefore;
      lengthsBefore = lengths;
      lengths = cleared;
      before = now;
    }
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw new TooManySteps();
    return extend({ a: bestA, b: bestB, size: bestSize }, this.#a, this.#b, within);
  }
}

/** Over the lines that are no anchors, but equal. */
function extend({ a: startA, b: startB, size }: Block, a: readonly string[], b: readonly string[], [fromA, toA, fromB, toB]: Range): Block {
  let [atA, atB, length] = [startA, startB, size];
  while (atA > fromA && atB > fromB && a[atA - 1] === b[atB - 1]) [atA, atB, length] = [atA - 1, atB - 1, length + 1];
  while (atA + length < toA && atB + length < toB && a[atA + length] === b[atB + length]) length++;
  return { a: atA, b: atB, size: length };
}

function joinAdjacent(blocks: readonly Block[]): Block[] {
  const joined: Block[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    if (last && last.a + last.size === block.a && last.b + last.size === block.b) last.size += block.size;
    else joined.push({ ...block });
  }
  return joined;
}

/** Changes with the lines around them; those whose surroundings meet are one hunk. */
function hunksOf(changes: readonly Change[]): Change[][] {
  const hunks: Change[][] = [];
  let hunk: Change[] = [];
  for (const [index, change] of changes.entries()) {
    if (!change.isEqual) {
      hunk.push(change);
      continue;
    }
    const size = change.toA - change.fromA;
    const head = { ...change, toA: Math.min(change.toA, change.fromA + CONTEXT_LINES), toB: Math.min(change.toB, change.fromB + CONTEXT_LINES) };
    const tail = { ...change, fromA: Math.max(change.fromA, change.toA - CONTEXT_LINES), fromB: Math.max(change.fromB, change.toB - CONTEXT_LINES) };
    const isLast = index === changes.length - 1;
    if (hunk.length === 0) {
      if (!isLast) hunk = [tail];
    } else if (size > 2 * CONTEXT_LINES || isLast) {
      hunks.push([...hunk, head]);
      hunk = isLast ? [] : [tail];
    } else hunk.push(change);
  }
  if (hunk.length > 0) hunks.push(hunk);
  return hunks;
}

function printHunk(hunk: readonly Change[], a: readonly string[], b: readonly string[]): string {
  const first = hunk[0]!;
  const last = hunk.at(-1)!;
  const lines = [`@@ -${range(first.fromA, last.toA)} +${range(first.fromB, last.toB)} @@`];
  for (const { isEqual, fromA, toA, fromB, toB } of hunk) {
    for (let i = fromA; i < toA; i++) lines.push(`${isEqual ? ' ' : '-'}${a[i]}`);
    if (!isEqual) for (let j = fromB; j < toB; j++) lines.push(`+${b[j]}`);
  }
  return `${lines.join('\n')}\n`;
}

function range(from: number, to: number): string {
  const length = to - from;
  if (length === 1) return String(from + 1);
  return `${length === 0 ? from : from + 1},${length}`;
}
