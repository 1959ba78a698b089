import { stringifyJson } from '../src/encoding/json.ts';
import type { Json } from '../src/encoding/json-types.ts';
import type { Difference } from './differences.ts';
import entries from './known.json' with { type: 'json' };
import type { Step } from './step.ts';

/** A difference that is explained: why there is one, and what it looks like. */
interface KnownDifference {
  name: string;
  reason: string;
  /** Regular expressions on `METHOD PATH`, on the place, and on what each server said there; those that are absent match everything. */
  request?: string;
  at?: string;
  reference?: string;
  server?: string;
  /** A regular expression on the whole step, as JSON. */
  step?: string;
  /** The same on one of the steps before it. */
  earlier?: string;
  /** What follows in the scenario would be its consequences: it ends there. */
  ends?: boolean;
}

interface Matcher {
  name: string;
  ends: boolean;
  matches(step: Step, difference: Difference, earlier: readonly Step[]): boolean;
}

const matchers: readonly Matcher[] = (entries as readonly KnownDifference[]).map(
  ({ name, request, at, reference, server, step: whole, earlier: former, ends = false }) => {
    const patterns = [request, at, reference, server, whole].map((source) => new RegExp(source ?? '', 's'));
    const [requestPattern, atPattern, referencePattern, serverPattern, stepPattern] = patterns;
    const formerPattern = former === undefined ? undefined : new RegExp(former, 's');
    return {
      name,
      ends,
      matches: (step, difference, earlier) =>
        requestPattern!.test(`${step.request.method} ${step.request.path}`) &&
        atPattern!.test(difference.at) &&
        referencePattern!.test(difference.reference) &&
        serverPattern!.test(difference.server) &&
        stepPattern!.test(textOf(step)) &&
        (formerPattern === undefined || earlier.some((one) => formerPattern.test(textOf(one)))),
    };
  },
);

const textOf = (step: Step): string => stringifyJson(step as unknown as Json);

/** The known difference that this one is; undefined where it is not explained. */
export const explain = (step: Step, difference: Difference, earlier: readonly Step[]): { name: string; ends: boolean } | undefined =>
  matchers.find((matcher) => matcher.matches(step, difference, earlier));
