/**
 * The candidate that needs the fewest letters added, removed or replaced to be `word`; the first of several. Undefined where that would be more than a third of the
 * word: whoever wrote it did not mean any of them.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(Math.min(word.length, MAX_LENGTH) / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.slice(0, MAX_LENGTH), candidate);
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** No flag is longer; more of a word would only cost time. */
const MAX_LENGTH = 64;

/** Levenshtein's distance, one row of the matrix at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, replaced));
    }
    row = next;
  }
  return row[to.length]!;
}
