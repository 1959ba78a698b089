import { stringifyJson } from '../src/encoding/json.ts';
import type { Answer } from './answer.ts';
import { type Finding, type Pair, runSteps } from './run.ts';
import type { Step } from './step.ts';

/*
 * Go goes through maps in an order that is another one every time, and so does what the reference says of them: the errors of a map's keys come in any
 * order, and where the first one ends the search, any of them is the one that is told. Such a difference is the reference's with itself.
 */

/** One order of several may be rare: of two items in a map with room for eight, one in four. */
const REPEATS = 60;

/**
 * Whether the reference, asked the same again, answers what the server answered. Where it has too many orders for all of them to be seen, or any of
 * hundreds of keys may be the one that is told, it is enough that the server says the same but for order, numbers, and which field it is that is not known.
 * That the reference answers in several ways is not: the server's may be none of them.
 */
export async function isReferenceUnsteady(pair: Pair, steps: readonly Step[], { stepIndex, reference, server }: Finding): Promise<boolean> {
  if (reference.status !== server.status) return false;
  const [own, ownWords] = [stringifyJson(server), wordsOf(server)];
  const told = new Set([stringifyJson(reference)]);
  let saysTheSame = wordsOf(reference) === ownWords;
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const { finding } = await runSteps(pair, steps.slice(0, stepIndex + 1));
    if (finding === undefined) return true;
    if (finding.stepIndex !== stepIndex || finding.reference.status !== reference.status || stringifyJson(finding.server) !== own) continue;
    told.add(stringifyJson(finding.reference));
    saysTheSame ||= wordsOf(finding.reference) === ownWords;
    if (saysTheSame && told.size > 1) return true;
  }
  return false;
}

const wordsOf = (answer: Answer): string =>
  stringifyJson(answer)
    .replaceAll(/ \.\S*: field not declared in schema/g, ': field not declared in schema')
    .replaceAll(/\d+/g, '0')
    .split(/[^\w.]+/)
    .toSorted()
    .join(' ');
