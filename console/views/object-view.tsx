import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Resource } from '../api/discovery.ts';
import type { ApiObject } from '../api/objects.ts';
import { type ResourcePath, formatPath } from '../api/resource-path.ts';
import { isNotFound } from '../api/status.ts';
import { DeleteDialog } from '../components/delete-dialog.tsx';
import { EditPanel } from '../components/edit-panel.tsx';
import { KubectlLine } from '../components/kubectl-line.tsx';
import { ObjectGraphView } from '../components/object-graph.tsx';
import { ObjectSide } from '../components/object-side.tsx';
import { Refused } from '../components/refused.tsx';
import { Timeline } from '../components/timeline.tsx';
import { YamlPane } from '../components/yaml-pane.tsx';
import { useFieldDocs } from '../components/use-field-docs.ts';
import { pastCommand } from '../history/change.ts';
import { objectCommand } from '../objects/kubectl.ts';
import { hasHistory, useApp } from '../state/app.ts';
import { EditSession } from '../state/edit-session.ts';
import { LiveObject } from '../state/live-object.ts';
import { lineOwnersOf, ownersOf } from '../yaml/ownership.ts';
import { objectText } from '../yaml/object-text.ts';
import type { YamlEditor } from '../editor/yaml-editor.ts';

interface ObjectViewProps {
  place: ResourcePath & { name: string };
  resource: Resource;
}

/** One object: its text, what is known about it, and what can be done with it. */
export function ObjectView({ place, resource }: ObjectViewProps) {
  const app = useApp();
  const path = formatPath(place);
  const live = useMemo(() => new LiveObject(app.client), []);
  const at = app.router.route.value.query.get('at') ?? undefined;
  useEffect(() => void (at === undefined ? live.open(place, resource) : live.openPast(place, at)), [path, at]);
  useEffect(() => () => live.close(), []);
  const object = live.object.value;
  const error = live.error.value;
  return (
    <div class="view">
      {object === undefined ? (
        <>
          {error === undefined && <p class="loading">Loading…</p>}
          {isNotFound(error) && <Gone place={place} resource={resource} />}
          {error !== undefined && !isNotFound(error) && <Refused error={error} />}
        </>
      ) : (
        <LoadedObject key={object.metadata.uid} object={object} live={live} place={place} resource={resource} />
      )}
      {hasHistory(app) && (
        <div class="object-history">
          <Timeline place={place} at={at} onAt={(moment) => app.router.setQuery({ at: moment })} />
        </div>
      )}
      <KubectlLine
        command={at === undefined ? objectCommand('get', resource, place.name, place.namespace, '-o', 'yaml', '--show-managed-fields') : pastCommand(place, at)}
      />
    </div>
  );
}

function Gone({ place, resource }: ObjectViewProps) {
  return (
    <div class="notice" role="alert">
      <p>
        There is no {resource.kind} {place.name}
        {place.namespace === undefined ? '' : ` in the namespace ${place.namespace}`}.
      </p>
    </div>
  );
}

interface LoadedObjectProps extends ObjectViewProps {
  object: ApiObject;
  live: LiveObject;
}

function LoadedObject({ object, live, place, resource }: LoadedObjectProps) {
  const app = useApp();
  const edit = useSignal<EditSession | undefined>(undefined);
  const editor = useSignal<YamlEditor | undefined>(undefined);
  const line = useSignal(-1);
  const path = formatPath(place);
  const tab = app.router.route.value.query.get('tab') ?? 'yaml';
  const shownText = useMemo(() => objectText(object), [object]);
  const owners = useMemo(() => ownersOf(object), [object]);
  const lineOwners = useMemo(() => lineOwnersOf(object, shownText), [object]);
  const text = edit.value?.text.value ?? shownText;
  const { docsAt, tooltipFor } = useFieldDocs(resource, text);

  // By keys too: what is being written is not begun anew, and what was is not written.
  const begin = (): void => {
    if (edit.value !== undefined || !canDo('update', live, resource)) return;
    app.router.setQuery({ tab: undefined });
    edit.value = new EditSession(app.client, path, object, shownText);
  };
  const save = async (): Promise<void> => {
    const saved = await edit.value?.save();
    if (saved === undefined) return;
    live.object.value = saved;
    edit.value = undefined;
  };
  useEffect(
    () =>
      app.keyboard.add([
        { keys: 'e', what: 'Edit', run: begin },
        { keys: 'd', what: 'Delete', run: () => canDo('delete', live, resource) && (app.dialog.value = 'delete') },
        { keys: '/', what: 'Search in the text', run: () => editor.value?.search() },
        { keys: 'u', what: 'Up to the table', run: () => app.router.go(tablePath(place)) },
      ]),
    [object],
  );
  return (
    <>
      <ObjectHead object={object} live={live} place={place} resource={resource} tab={tab} isEditing={edit.value !== undefined} onEdit={begin} />
      {edit.value && live.object.value?.metadata.resourceVersion !== edit.value.base?.metadata.resourceVersion && edit.value.conflict.value === undefined && (
        <p class="notice" role="status">
          The object changed while you edit it. Saving will show you what changed.
        </p>
      )}
      {tab === 'graph' ? (
        <ObjectGraphView object={object} resource={resource} />
      ) : (
        <div class="object">
          <YamlPane
            text={text}
            revision={edit.value ? `edit ${edit.value.revision.value}` : `version ${object.metadata.resourceVersion ?? ''}`}
            label={`${resource.kind} ${place.name} as YAML`}
            isReadOnly={edit.value === undefined}
            owners={edit.value === undefined ? lineOwners : []}
            onChange={(changed) => edit.value?.edit(changed)}
            onLine={(at) => (line.value = at)}
            docs={tooltipFor}
            onReady={(ready) => (editor.value = ready)}
          />
          {edit.value ? (
            <EditPanel edit={edit.value} action="Save" onSave={() => void save()} onCancel={() => (edit.value = undefined)} />
          ) : (
            <ObjectSide object={object} owners={owners} docs={docsAt(line.value)} />
          )}
        </div>
      )}
      {app.dialog.value === 'delete' && <DeleteDialog object={object} resource={resource} path={path} onClose={() => (app.dialog.value = undefined)} />}
    </>
  );
}

const tablePath = ({ group, version, plural, namespace }: ResourcePath): string =>
  formatPath({ group, version, plural, ...(namespace !== undefined && { namespace }) });

interface ObjectHeadProps extends LoadedObjectProps {
  tab: string;
  isEditing: boolean;
  onEdit: () => void;
}

const STATES = { loading: 'Loading', live: 'Live', still: 'Not watched', deleted: 'Deleted', past: 'As it was', failed: 'Failed' } as const;

/** Only to what is there now, and where the resource has the verb. */
const canDo = (verb: 'update' | 'delete', { state }: LiveObject, { verbs }: Resource): boolean =>
  (state.value === 'live' || state.value === 'still') && verbs.includes(verb);

function ObjectHead({ object, live, place, resource, tab, isEditing, onEdit }: ObjectHeadProps) {
  const app = useApp();
  const state = live.state.value;
  return (
    <div class="toolbar">
      <nav class="crumbs" aria-label="Where it is">
        <a href={`#${tablePath(place)}`}>{resource.plural}</a>
        {place.namespace !== undefined && <span class="muted">{place.namespace}</span>}
      </nav>
      <h1>{place.name}</h1>
      <span class={`live state-${state}`} role="status">
        {object.metadata.deletionTimestamp !== undefined && state !== 'deleted' ? 'Being deleted' : STATES[state]}
      </span>
      <span class="spacer" />
      <div class="tabs" role="group" aria-label="Shown as">
        <button type="button" aria-pressed={tab === 'yaml'} onClick={() => app.router.setQuery({ tab: undefined })}>
          YAML
        </button>
        <button type="button" aria-pressed={tab === 'graph'} onClick={() => app.router.setQuery({ tab: 'graph' })}>
          Owners and dependents
        </button>
      </div>
      <button type="button" disabled={isEditing || !canDo('update', live, resource)} onClick={onEdit}>
        Edit
      </button>
      <button type="button" class="danger" disabled={!canDo('delete', live, resource)} onClick={() => (app.dialog.value = 'delete')}>
        Delete
      </button>
    </div>
  );
}
