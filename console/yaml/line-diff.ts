export interface DiffLine {
  type: 'same' | 'added' | 'removed';
  text: string;
}

/** Past so many differences the rest counts as replaced: nobody reads more, and the work grows with their square. */
const MAX_DISTANCE = 600;

/** The lines of two texts as one: what is the same, what goes, and what comes in its place (Myers, "An O(ND) Difference Algorithm and Its Variations"). */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ type: 'same', text }));
  return [...same(a.slice(0, start)), ...diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)), ...same(end === 0 ? [] : a.slice(-end))];
}

function diffMiddle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const steps = furthestPoints(a, b);
  if (steps === undefined) return [...a.map((text) => ({ type: 'removed' as const, text })), ...b.map((text) => ({ type: 'added' as const, text }))];
  const lines: DiffLine[] = [];
  let x = a.length;
  let y = b.length;
  for (let distance = steps.length - 1; distance >= 0; distance--) {
    const points = steps[distance]!;
    const k = x - y;
    const isDown = k === -distance || (k !== distance && at(points, k - 1) < at(points, k + 1));
    const previousX = distance === 0 ? 0 : at(points, isDown ? k + 1 : k - 1);
    const previousY = distance === 0 ? 0 : previousX - (isDown ? k + 1 : k - 1);
    while (x > previousX && y > previousY && a[x - 1] === b[y - 1]) {
      lines.push({ type: 'same', text: a[x - 1]! });
      x--;
      y--;
    }
    if (distance === 0) break;
    if (isDown) lines.push({ type: 'added', text: b[--y]! });
    else lines.push({ type: 'removed', text: a[--x]! });
  }
  return lines.toReversed();
}

/** For each number of differences, how far every diagonal came before it; nothing where there are too many. */
function furthestPoints(a: readonly string[], b: readonly string[]): Map<number, number>[] | undefined {
  const points = new Map<number, number>([[1, 0]]);
  const steps: Map<number, number>[] = [];
  for (let distance = 0; distance <= Math.min(MAX_DISTANCE, a.length + b.length); distance++) {
    steps.push(new Map(points));
    for (let k = -distance; k <= distance; k += 2) {
      let x = k === -distance || (k !== distance && at(points, k - 1) < at(points, k + 1)) ? at(points, k + 1) : at(points, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      points.set(k, x);
      if (x >= a.length && x - k >= b.length) return steps;
    }
  }
  return undefined;
}

const at = (points: Map<number, number>, k: number): number => points.get(k) ?? -1;

export interface DiffHunk {
  /** Of the first line before, and after; from 1. */
  beforeLine: number;
  afterLine: number;
  lines: DiffLine[];
}

/** What differs, with some lines around it. */
export function hunksOf(lines: readonly DiffLine[], context = 3): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  let beforeLine = 1;
  let afterLine = 1;
  let lastShown = -1;
  for (const [index, line] of lines.entries()) {
    const isNear = lines.slice(Math.max(0, index - context), index + context + 1).some(({ type }) => type !== 'same');
    if (isNear) {
      if (lastShown !== index - 1 || hunks.length === 0) hunks.push({ beforeLine, afterLine, lines: [] });
      hunks.at(-1)!.lines.push(line);
      lastShown = index;
    }
    if (line.type !== 'added') beforeLine++;
    if (line.type !== 'removed') afterLine++;
  }
  return hunks;
}
