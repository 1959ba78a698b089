import type { CST, Scalar } from 'yaml';
import { LIMITS } from '../util/limits.ts';
import { InputTooLarge } from './json-parser.ts';

/** Shorter texts are read in some microseconds, whatever they consist of. */
const LONG_CHARACTERS = 1_000;
/** The parser reads a quoted text character by character, and so many take half as long as a token. */
const CHARACTERS_OF_TOKEN = 4;
/** It folds lines one by one. */
const TOKENS_OF_LINE = 2;

/** What the tokens of long texts stand for that were read by V8. */
const values = new WeakMap<object, string>();

/**
 * Texts of a document that are long. The parser makes a string of each in one call, a character or a line at a time: 2.9 MB took 300 ms. Where JSON has the
 * same text, V8 reads it; the others count for as many tokens as they take time.
 */
export class LongTexts {
  readonly #read = new Map<string, string>();

  /** For how many tokens a lexeme counts, beside itself. */
  tokensOf(lexeme: string): number {
    if (lexeme.length < LONG_CHARACTERS) return 0;
    if (lexeme.startsWith('"')) return this.#readAsJson(lexeme) ? 0 : lexeme.length / CHARACTERS_OF_TOKEN;
    return lexeme.startsWith("'") ? lexeme.length / CHARACTERS_OF_TOKEN : linesOf(lexeme) * TOKENS_OF_LINE;
  }

  #readAsJson(source: string): boolean {
    try {
      this.#read.set(source, JSON.parse(source) as string);
      return true;
    } catch {
      return false;
    }
  }

  /** What was read already need not be read by the parser. */
  shorten(token: CST.FlowScalar): void {
    const value = token.source.length < LONG_CHARACTERS ? undefined : this.#read.get(token.source);
    if (value === undefined) return;
    values.set(token, value);
    // As long as it was: where the next token stands is counted from the end of this one. The parser passes over spaces quickly.
    token.source = `"${' '.repeat(token.source.length - 2)}"`;
  }
}

const MAX_PLAIN = LIMITS.yamlPlainCharacters;
/** A longer text has some of every so many characters of a document. */
const SAMPLED = MAX_PLAIN / 2;
const ENDS_TEXT = /[\n"'[\]{},]/g;
const ENDING_CODES = new Set(Array.from('\n"\'[]{},', (character) => character.charCodeAt(0)));

/** The parser looks for the end of a text without quotes in one call, which for three megabytes takes 60 ms. */
export function refuseLongPlainText(text: string): void {
  for (let at = SAMPLED; at < text.length; at += SAMPLED) {
    ENDS_TEXT.lastIndex = at;
    const end = ENDS_TEXT.exec(text)?.index ?? text.length;
    if (end - at < SAMPLED) continue;
    let start = at;
    while (start > 0 && !ENDING_CODES.has(text.charCodeAt(start - 1))) start--;
    if (end - start > MAX_PLAIN) throw new InputTooLarge(`limit is ${MAX_PLAIN} characters of a plain YAML text`);
  }
}

function linesOf(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

export const textOf = (node: Scalar): string => (node.srcToken && values.get(node.srcToken)) ?? String(node.value ?? '');
