import { type Node, isMap, isScalar, isSeq } from 'yaml';
import { runInSlices } from '../util/time-slice.ts';
import { documentIn, parsing } from './yaml-document.ts';
import { quote } from '../util/go-quote.ts';
import { formatGoFloat } from './go-format.ts';
import { resolveScalar } from './yaml.ts';

export interface RepeatedKey {
  line: number;
  /** In Go's syntax: `"a"`, `true`, `1`. */
  key: string;
}

const MAX_TOLD = 100;

/**
 * Keys that a YAML (or JSON) text repeats within one map, each with the line of its repetition, in the order in which go-yaml finds them: a key after what
 * its value holds. No more than MAX_TOLD. Slow to load and to run; throws 413 where the text has more tokens than are let in.
 */
export async function repeatedKeys(text: string): Promise<RepeatedKey[]> {
  const found: RepeatedKey[] = [];
  const contents = (await runInSlices(parsing(documentIn(text))))?.contents;
  const lines = new Lines(text);
  if (contents) find(contents as Node, lines, found);
  return found;
}

/** Where lines begin, found once: a text may have a million of them, and each repetition asks. */
class Lines {
  readonly #text: string;
  #ends: number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Of the character at `offset`; the first is 1. */
  numberAt(offset: number): number {
    const ends = (this.#ends ??= this.#findEnds());
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  }

  #findEnds(): number[] {
    const ends: number[] = [];
    for (let at = this.#text.indexOf('\n'); at >= 0; at = this.#text.indexOf('\n', at + 1)) ends.push(at);
    return ends;
  }
}

function find(node: unknown, lines: Lines, found: RepeatedKey[]): void {
  if (isSeq(node)) for (const item of node.items) find(item, lines, found);
  if (!isMap(node)) return;
  const seen = new Set<string>();
  for (const { key, value } of node.items) {
    find(value, lines, found);
    if (!isScalar(key)) continue;
    const { kind, value: resolved } = resolveScalar(key);
    // Go compares keys with their types, and no NaN is another.
    if (Number.isNaN(resolved)) continue;
    const shown = kind === 'float' ? formatGoFloat(Number(resolved), 64) : typeof resolved === 'string' ? quote(resolved) : String(resolved);
    const identity = `${kind === 'float'} ${shown}`;
    if (seen.has(identity) && found.length < MAX_TOLD) found.push({ line: lines.numberAt(key.range?.[0] ?? 0), key: shown });
    seen.add(identity);
  }
}
