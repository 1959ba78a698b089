import { type Node, isMap, isScalar, isSeq } from 'yaml';
import { documentOf, lineOf } from './yaml.ts';

export interface RepeatedKey {
  line: number;
  key: string;
}

const MAX_TOLD = 100;

/**
 * Keys that a YAML (or JSON) text repeats within one map, each with the line of its repetition, in the order in which go-yaml finds them: a key after what
 * its value holds. No more than MAX_TOLD. Slow to load and to run; throws 413 where the text has more tokens than are let in.
 */
export function repeatedKeys(text: string): RepeatedKey[] {
  const found: RepeatedKey[] = [];
  const contents = documentOf(text)?.contents;
  if (contents) find(contents as Node, text, found);
  return found;
}

function find(node: unknown, text: string, found: RepeatedKey[]): void {
  if (isSeq(node)) for (const item of node.items) find(item, text, found);
  if (!isMap(node)) return;
  const seen = new Set<string>();
  for (const { key, value } of node.items) {
    find(value, text, found);
    if (!isScalar(key)) continue;
    const name = String(key.value);
    if (seen.has(name) && found.length < MAX_TOLD) found.push({ line: lineOf(text, key.range?.[0] ?? 0), key: name });
    seen.add(name);
  }
}
