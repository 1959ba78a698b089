import { compileRegexp } from '../../src/re2/regexp.ts';
import { BudgetExceeded } from '../../src/util/step-budget.ts';
import { type FuzzTarget, mustAgree } from '../target.ts';

/** What RE2 and JavaScript write alike and mean alike. Quantifiers of quantifiers mean another thing, or nothing. */
const COMMON = /^(?:[a-c.|^$]|\(\?:|\(|\)|\[\^?[a-c]+\]|[a-c.)\]](?:[*+?]|\{[1-3](?:,[1-5]?)?\})\??(?![*+?{]))*$/;
/** JavaScript's engine tries again and again: exponentially often, so it is asked of short texts only. */
const SHORT = 12;
const MAX_COMMON = 60;

let runs = 0;

/** A pattern, a NUL, and the text that it is searched in. */
export const re2: FuzzTarget = {
  name: 're2',
  seeds: () => [
    '(a|b)*c\0ababc',
    '^[a-z]{2,5}$\0abc',
    '(?i)x+\\d\\pL\\b\0Xx1é',
    '[[:alpha:]\\-^]+?|(?P<n>a.)\0a-b',
    '\\Qa.b\\E(?s:.)\\x{1F600}\0a.b\n',
    'a(b|c){1,3}$\0abcb',
    '(?:a|(?:b|c))+?b\0acb',
  ],
  tokens: [
    '(',
    ')',
    '(?:',
    '|',
    '*',
    '+',
    '?',
    '{2}',
    '{1,3}',
    '{1000}',
    '[a-b]',
    '[^',
    ']',
    '.',
    '^',
    '$',
    '\\b',
    '\\d',
    '\\pL',
    '(?i)',
    '(?s)',
    '\\Q',
    '\\E',
    '[:alpha:]',
    'a',
    'b',
    'c',
    '\\x{10FFFF}',
    '\0',
    '(?P<n>',
    '[ab]*',
    '(a*)*',
    '\\A',
    '\\z',
    '\\C',
  ],
  refusals: [BudgetExceeded],
  run(input) {
    const [written = '', text = ''] = input.toString().split('\0', 2);
    // A pattern is remembered once it was compiled; this one has never been seen.
    const pattern = `~${++runs}|${written}`;
    const compiled = compileRegexp(pattern);
    if ('error' in compiled) return undefined;
    const isFound = compiled.test(text);
    compiled.findAll(text, 100);
    return () => {
      if (text.length > SHORT || written.length > MAX_COMMON || !COMMON.test(written) || /[\r\u2028\u2029]|[^\0-\uffff]/.test(text)) return;
      mustAgree(`whether ${written} is found in ${JSON.stringify(text)}`, String(isFound), String(new RegExp(pattern).test(text)));
    };
  },
};
