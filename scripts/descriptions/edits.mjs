// What a text of a package lacks to be the one that upstream publishes: nearly always line breaks.

/** An edit of one text: the hash of the text that it begins with, then [position, how many characters go, what comes instead], from the end backwards. */
export function applyEdit(base, changes) {
  let text = base;
  for (const [position, removed, inserted] of changes) text = text.slice(0, position) + inserted + text.slice(position + removed);
  return text;
}

/** Letters that an edit may bring along: it is no place to write texts down in. */
const LETTERS_MAX = 16;

/**
 * For each wanted text that is not there, the edit that makes it out of one that is.
 * @param {Map<string, string>} texts
 * @param {Map<string, string>} wanted
 */
export function editsFrom(texts, wanted) {
  const edits = {};
  const missing = [];
  for (const [hash, text] of wanted) {
    if (texts.has(hash)) continue;
    const [best] = nearest(texts, text)
      .map(([base, from]) => ({ base, changes: changesBetween(from, text) }))
      .toSorted((a, b) => lettersIn(a.changes) - lettersIn(b.changes));
    if (best === undefined || lettersIn(best.changes) > LETTERS_MAX) missing.push(text);
    else edits[hash] = [best.base, best.changes];
  }
  return { edits, missing };
}

const wordsOf = (text) => text.match(/[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]/gu) ?? [];

const lettersIn = (changes) => changes.map(([, , inserted]) => inserted.replace(/\P{L}/gu, '')).join('').length;

const CANDIDATES_MAX = 10;

/** Those that have the most words of `text`, each counted once, in the fewest words of their own. */
function nearest(texts, text) {
  const words = new Set(wordsOf(text));
  const scored = [...texts].map((entry) => {
    const own = new Set(wordsOf(entry[1]));
    const common = [...own].filter((word) => words.has(word)).length;
    return { entry, score: common / (own.size + words.size - common) };
  });
  return scored
    .toSorted((a, b) => b.score - a.score)
    .slice(0, CANDIDATES_MAX)
    .map(({ entry }) => entry);
}

/** By the longest common subsequence of words. */
function changesBetween(base, text) {
  const [from, to] = [wordsOf(base), wordsOf(text)];
  const lengths = Array.from({ length: from.length + 1 }, () => new Uint32Array(to.length + 1));
  for (let i = from.length - 1; i >= 0; i--)
    for (let j = to.length - 1; j >= 0; j--) lengths[i][j] = from[i] === to[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  const changes = [];
  let [i, j, position] = [0, 0, 0];
  let open;
  while (i < from.length || j < to.length) {
    if (i < from.length && j < to.length && from[i] === to[j]) {
      open = undefined;
      position += from[i].length;
      i++;
      j++;
      continue;
    }
    if (!open) changes.push((open = [position, 0, '']));
    if (j < to.length && (i === from.length || lengths[i][j + 1] >= lengths[i + 1][j])) open[2] += to[j++];
    else {
      open[1] += from[i].length;
      position += from[i++].length;
    }
  }
  return changes.toReversed();
}
