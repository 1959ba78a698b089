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
}

interface Matcher {
  name: string;
  matches(step: Step, difference: Difference): boolean;
}

const matchers: readonly Matcher[] = (entries as readonly KnownDifference[]).map(({ name, request, at, reference, server }) => {
  const [requestPattern, atPattern, referencePattern, serverPattern] = [request, at, reference, server].map((source) => new RegExp(source ?? '', 's'));
  return {
    name,
    matches: (step, difference) =>
      requestPattern!.test(`${step.request.method} ${step.request.path}`) &&
      atPattern!.test(difference.at) &&
      referencePattern!.test(difference.reference) &&
      serverPattern!.test(difference.server),
  };
});

/** The name of the known difference that this one is; undefined where it is not explained. */
export const explain = (step: Step, difference: Difference): string | undefined => matchers.find((matcher) => matcher.matches(step, difference))?.name;
