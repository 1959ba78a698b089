/** One way to go on: what the whole text becomes, and what is shown for it. */
export interface Completion {
  text: string;
  label: string;
}

/** The keys that are there, each with its values. */
export type Vocabulary = ReadonlyMap<string, ReadonlySet<string>>;

const MAX_COMPLETIONS = 12;
const SET_TERM = /^(.*?)\s+(?:in|notin)\s+\(([^)]*)$/;
const EQUALITY = /^(.*?)(==|!=|=)(.*)$/;

/** How a selector can go on at its end: keys that are in use, then their values. */
export function completeSelector(text: string, vocabulary: Vocabulary): Completion[] {
  const start = lastTermStart(text);
  const term = text.slice(start).trimStart();
  const before = text.slice(0, text.length - term.length);
  const set = SET_TERM.exec(term);
  if (set) {
    const [chosen, last] = splitLast(set[2]!);
    return values(vocabulary, set[1]!.trim(), last)
      .map((value) => ({ text: text.slice(0, text.length - last.length) + value, label: value }))
      .filter(({ label }) => !chosen.includes(label));
  }
  const equality = EQUALITY.exec(term);
  if (equality) {
    const [, key, operator, value] = equality;
    return values(vocabulary, key!.trim(), value!.trim()).map((found) => ({ text: `${before}${key}${operator}${found}`, label: found }));
  }
  const isNegated = term.startsWith('!');
  const wanted = isNegated ? term.slice(1) : term;
  return matching([...vocabulary.keys()], wanted).map((key) => ({ text: isNegated ? `${before}!${key}` : `${before}${key}=`, label: key }));
}

/** Commas between parentheses part values, not terms. */
function lastTermStart(text: string): number {
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')') depth--;
    else if (text[at] === ',' && depth === 0) start = at + 1;
  }
  return start;
}

function splitLast(list: string): [chosen: string[], last: string] {
  const parts = list.split(',').map((part) => part.trim());
  return [parts.slice(0, -1), parts.at(-1)!];
}

const values = (vocabulary: Vocabulary, key: string, prefix: string): string[] =>
  matching([...(vocabulary.get(key) ?? [])], prefix).filter((value) => value !== prefix);

/** Those that begin with the text, then those that have it. */
function matching(words: readonly string[], text: string): string[] {
  const sorted = [...words].sort();
  const begins = sorted.filter((word) => word.startsWith(text));
  return [...begins, ...sorted.filter((word) => !word.startsWith(text) && word.includes(text))].slice(0, MAX_COMPLETIONS);
}

/** The labels of what a table shows. */
export function labelVocabulary(rows: Iterable<{ labels: Readonly<Record<string, string>> | undefined }>): Vocabulary {
  const vocabulary = new Map<string, Set<string>>();
  for (const { labels = {} } of rows) {
    for (const [key, value] of Object.entries(labels)) {
      const found = vocabulary.get(key);
      if (found) found.add(value);
      else vocabulary.set(key, new Set([value]));
    }
  }
  return vocabulary;
}
