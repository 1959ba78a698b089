import { type ApiError, type PolicyRule, isForbidden, messageOf } from '../api/status.ts';
import { missingRule } from '../objects/missing-rule.ts';
import { useApp, usernameOf } from '../state/app.ts';

interface RefusedProps {
  error: unknown;
  /** A table is listed and watched. */
  isWatched?: boolean;
}

/** What the server said no to; where it was for want of a right, with the rule that is missing. */
export function Refused({ error, isWatched = false }: RefusedProps) {
  return isForbidden(error) ? <Forbidden error={error} isWatched={isWatched} /> : <ErrorNotice error={error} />;
}

export const ErrorNotice = ({ error }: { error: unknown }) => (
  <div class="notice error" role="alert">
    <p>{messageOf(error)}</p>
  </div>
);

function Forbidden({ error, isWatched }: { error: ApiError; isWatched: boolean }) {
  const { rule, namespace, commands } = missingRule(error, usernameOf(useApp()), isWatched);
  return (
    <section class="notice refused" role="alert" aria-label="Refused">
      <h2>Refused</h2>
      <p>{error.message}</p>
      <h3>The rule that is missing{namespace === undefined ? '' : ` in the namespace ${namespace}`}</h3>
      <RuleText rule={rule} />
      <h3>An administrator gives it by</h3>
      <pre tabIndex={0}>{commands.join('\n')}</pre>
    </section>
  );
}

export const RuleText = ({ rule }: { rule: PolicyRule }) => (
  <pre tabIndex={0}>
    {Object.entries(rule)
      .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
      .join('\n')}
  </pre>
);
