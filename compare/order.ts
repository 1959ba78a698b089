import { stringifyJson } from '../src/encoding/json.ts';
import { type Finding, type Pair, runSteps } from './run.ts';
import type { Step } from './step.ts';

/*
 * Go goes through maps in an order that is another one every time, and so does what the reference says of them: the errors of a map's keys come in any
 * order, and where the first one ends the search, any of them is the one that is told. Such a difference is the reference's with itself.
 */

/** One order of several may be rare: of two items in a map with room for eight, one in four. */
const REPEATS = 60;

/** Whether the reference, asked the same again, answers what the server answered, or otherwise than before with the same status. */
export async function isReferenceUnsteady(pair: Pair, steps: readonly Step[], { stepIndex, reference, server }: Finding): Promise<boolean> {
  if (reference.status !== server.status) return false;
  const first = stringifyJson(reference);
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const { finding } = await runSteps(pair, steps.slice(0, stepIndex + 1));
    if (finding === undefined) return true;
    const isSameStep = finding.stepIndex === stepIndex && finding.reference.status === reference.status;
    if (isSameStep && stringifyJson(finding.reference) !== first && stringifyJson(finding.server) === stringifyJson(server)) return true;
  }
  return false;
}
