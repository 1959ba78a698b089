import { expect, test } from 'vitest';
import { pemBlocks } from './pem.ts';

const block = (type: string, body: string, end = type): string => `-----BEGIN ${type}-----\n${body}\n-----END ${end}-----\n`;
const found = (text: string): [string, boolean, string][] => [...pemBlocks(text)].map(({ type, hasHeaders, bytes }) => [type, hasHeaders, bytes.toString()]);

test.each([
  ['nothing', '', []],
  ['text around', `before\n${block('A', 'aGk=')}after`, [['A', false, 'hi']]],
  [
    'two',
    block('A', 'aGk=') + block('B', 'aG8='),
    [
      ['A', false, 'hi'],
      ['B', false, 'ho'],
    ],
  ],
  ['several lines, with spaces', block('A', 'aG\r\n k='), [['A', false, 'hi']]],
  ['headers', block('A', 'Proc-Type: 4\n\naGk='), [['A', true, 'hi']]],
  ['no body', block('A', ''), [['A', false, '']]],
  ['a begin inside a line', `x${block('A', 'aGk=')}`, []],
  ['another end', block('A', 'aGk=', 'B'), []],
  ['what is no base64', block('A', 'a!k='), []],
  ['a bad one before a good one', block('A', 'a') + block('B', 'aG8='), [['B', false, 'ho']]],
  ['no end', '-----BEGIN A-----\naGk=', []],
])('%s', (_name, text, blocks) => {
  expect(found(text)).toEqual(blocks);
});

test.each(['-----BEGIN A-----\n', '-----BEGIN A-----\n-----END B-----\n', '-----END A-----\n'])('%j, many times, is read in time', (part) => {
  const started = performance.now();
  expect(found(part.repeat(100_000))).toEqual([]);
  expect(performance.now() - started).toBeLessThan(2000);
});
