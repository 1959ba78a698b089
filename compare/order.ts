import { stringifyJson } from '../src/util/json.ts';
import type { Json } from '../src/util/json-types.ts';
import type { Answer } from './answer.ts';
import { type Pair, runSteps } from './run.ts';
import type { Step } from './step.ts';

/*
 * Go goes through maps in an order that is another one every time, and so does what the reference says of them: the errors of a map's keys, the columns of a
 * list of limits. Such a difference is the reference's with itself.
 */

const REPEATS = 8;

/** Whether the reference, asked the same again, says the same things in more than one order, and the server says these things too. */
export async function isReferenceUnordered(pair: Pair, steps: readonly Step[], reference: Answer, server: Answer): Promise<boolean> {
  const things = unordered(reference);
  if (things !== unordered(server)) return false;
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const { finding } = await runSteps(pair, steps);
    if (finding === undefined) return true;
    if (stringifyJson(finding.reference) !== stringifyJson(reference) && unordered(finding.reference) === things) return true;
  }
  return false;
}

/** Equal for answers that say the same in another order. */
const unordered = ({ status, headers, body, reviews = null }: Answer): string =>
  JSON.stringify([status, Object.entries(headers).map(sorted), sorted(body), sorted(reviews)]);

function sorted(value: Json | [string, string]): unknown {
  if (typeof value === 'string') return value.split(/[\s,;[\]{}"]+/).sort();
  if (Array.isArray(value)) return value.map((item) => JSON.stringify(sorted(item))).sort();
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([key, item]) => JSON.stringify([key, sorted(item!)]))
      .sort();
  }
  return String(value);
}
