import { isForbidden } from '../api/status.ts';
import { useApp } from '../state/app.ts';
import type { Conflict, EditSession } from '../state/edit-session.ts';
import { objectText } from '../yaml/object-text.ts';
import { changesBetween } from '../yaml/merge.ts';
import { ownersOf } from '../yaml/ownership.ts';
import { DiffView } from './diff-view.tsx';
import { ErrorNotice, Refused } from './refused.tsx';

interface EditPanelProps {
  edit: EditSession;
  /** `Save` or `Create`. */
  action: string;
  onSave: () => void;
  onCancel: () => void;
}

/** Below the text: check it, see what would change, and save. Nothing is saved that was not looked at. */
export function EditPanel({ edit, action, onSave, onCancel }: EditPanelProps) {
  const preview = edit.preview.value;
  return (
    <section class="edit-panel" aria-label="Check and save">
      <div class="edit-actions">
        <button type="button" class={preview ? '' : 'primary'} disabled={edit.isBusy.value} onClick={() => void edit.review()}>
          Check by dry run
        </button>
        <button type="button" class={preview ? 'primary' : ''} disabled={edit.isBusy.value || preview === undefined} onClick={onSave}>
          {action}
        </button>
        <button type="button" class="quiet" onClick={onCancel}>
          Cancel
        </button>
        <span class="muted" role="status">
          {edit.isBusy.value
            ? 'Asking the server…'
            : preview
              ? 'The server would take it. This is what would change:'
              : 'A dry run checks everything and stores nothing.'}
        </span>
      </div>
      {edit.overlaps.value.length > 0 && (
        <div class="notice" role="status">
          <p>Both of you changed these fields; yours is in the text:</p>
          <ul>
            {edit.overlaps.value.map(({ path, from, to }) => (
              <li key={path.join('.')}>
                <code>{path.join('.')}</code>: theirs <code>{JSON.stringify(from)}</code>, yours <code>{JSON.stringify(to)}</code>
              </li>
            ))}
          </ul>
        </div>
      )}
      {edit.conflict.value && <ConflictNotice conflict={edit.conflict.value} edit={edit} />}
      {edit.error.value !== undefined && <Failure edit={edit} />}
      {preview?.warnings.map((warning) => (
        <p key={warning} class="notice">
          Warning: {warning}
        </p>
      ))}
      {preview && <DiffView before={preview.before} after={preview.after} label="What would change" />}
    </section>
  );
}

/** Why it was not taken, and the way to find out more. */
function Failure({ edit }: { edit: EditSession }) {
  const app = useApp();
  const error = edit.error.value;
  return (
    <div>
      {isForbidden(error) && / is forbidden: User /.test(error.message) ? <Refused error={error} /> : <ErrorNotice error={error} />}
      <p class="edit-more">
        <button type="button" onClick={() => app.explain({ method: edit.method, path: edit.path, body: edit.text.value })}>
          Why was it refused?
        </button>
      </p>
    </div>
  );
}

function ConflictNotice({ conflict: { base, latest }, edit }: { conflict: Conflict; edit: EditSession }) {
  const since =
    base.metadata.managedFields
      ?.map(({ time }) => time ?? '')
      .sort()
      .at(-1) ?? '';
  const authors = [
    ...new Set(
      ownersOf(latest)
        .filter(({ time }) => time >= since)
        .map(({ manager }) => manager),
    ),
  ];
  const fields = changesBetween(base['spec'] ?? base['data'], latest['spec'] ?? latest['data']).map(({ path }) => path.join('.'));
  return (
    <section class="notice error" role="alert" aria-label="Conflict">
      <h2>Somebody else changed it meanwhile</h2>
      <p>
        You began with version {base.metadata.resourceVersion}; it is at {latest.metadata.resourceVersion} now
        {authors.length > 0 && `, last written by ${authors.join(' and ')}`}. Nothing of yours was stored, so that nothing of theirs is lost.
        {fields.length > 0 && fields.length < 10 && ` They changed ${fields.join(', ')}.`}
      </p>
      <DiffView before={objectText(base)} after={objectText(latest)} label="What they changed" />
      <p>
        <button type="button" class="primary" onClick={() => edit.takeOver()}>
          Take over their changes and go on
        </button>
      </p>
    </section>
  );
}
