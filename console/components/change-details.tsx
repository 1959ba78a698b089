import { type Change, addressOf, authorOf, valueText } from '../history/change.ts';
import { shortAgent } from '../server/activity.ts';
import { formatTime } from '../table/age.ts';

interface ChangeDetailsProps {
  change: Change;
  /** Should it say which object? */
  hasObject: boolean;
}

/** Who changed what, how and when, field by field. */
export function ChangeDetails({ change, hasObject }: ChangeDetailsProps) {
  const { type, verb, subresource, userAgent, fieldManager, time, object, fields = [] } = change;
  return (
    <div class="change-details" tabIndex={0} role="region" aria-label="What it changed">
      <p>
        <strong class="author">{authorOf(change)}</strong> {type}{' '}
        {hasObject && (
          <a href={`#${addressOf(change)}`}>
            {object.kind} {object.name}
          </a>
        )}{' '}
        <span class="muted">
          by {verb}
          {subresource !== undefined && subresource !== '' && ` of ${subresource}`}
          {fieldManager !== undefined && fieldManager !== '' && ` as ${fieldManager}`}
          {userAgent !== undefined && userAgent !== '' && ` with ${shortAgent(userAgent)}`}, <time>{formatTime(Date.parse(time))}</time>
        </span>
      </p>
      {type === 'modified' && (
        <ul class="changes">
          {fields.map(({ path, from, to }) => (
            <li key={path}>
              <code>{path}</code> {from !== undefined && <del>{valueText(from)}</del>} {to !== undefined && <ins>{valueText(to)}</ins>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
