import { useSignal } from '@preact/signals';
import type { Resource } from '../api/discovery.ts';
import type { ApiObject } from '../api/objects.ts';
import { objectCommand } from '../objects/kubectl.ts';
import { type GraphNode, allDependents, loadGraph } from '../objects/object-graph.ts';
import { useApp } from '../state/app.ts';
import { Dialog } from './dialog.tsx';
import { KubectlLine } from './kubectl-line.tsx';
import { Refused } from './refused.tsx';
import { useLoaded } from './use-loaded.ts';

interface DeleteDialogProps {
  object: ApiObject;
  resource: Resource;
  path: string;
  onClose: () => void;
}

type Propagation = 'Background' | 'Foreground' | 'Orphan';
const MEANINGS: Readonly<Record<Propagation, string>> = {
  Background: 'It goes at once; what it owns is collected after it.',
  Foreground: 'What it owns goes first; it waits for that.',
  Orphan: 'What it owns stays, and is owned by nothing.',
};

/** What deleting it would do, before it is done. */
export function DeleteDialog({ object, resource, path, onClose }: DeleteDialogProps) {
  const { client, discovery } = useApp();
  const graph = useLoaded((signal) => loadGraph(client, discovery.value!, object, resource, signal), [object.metadata.uid]);
  const dependents = graph.value ? allDependents(graph.value) : graph.error === undefined ? undefined : [];
  const propagation = useSignal<Propagation>('Background');
  const error = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  const { name, namespace, uid, resourceVersion, finalizers = [] } = object.metadata;
  const remove = async (): Promise<void> => {
    isBusy.value = true;
    try {
      const preconditions = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
      await client.request(path, { method: 'DELETE', body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: propagation.value, preconditions } });
      onClose();
    } catch (reason) {
      error.value = reason;
    }
    isBusy.value = false;
  };
  return (
    <Dialog title={`Delete ${resource.kind} ${name}?`} onClose={onClose}>
      {error.value !== undefined && <Refused error={error.value} />}
      <Consequences
        dependents={dependents}
        finalizers={finalizers}
        propagation={propagation.value}
        isNamespace={resource.kind === 'Namespace' && resource.group === ''}
      />
      <fieldset>
        <legend>What it owns</legend>
        {(Object.keys(MEANINGS) as Propagation[]).map((policy) => (
          <label key={policy} class="choice">
            <input type="radio" name="propagation" checked={propagation.value === policy} onChange={() => (propagation.value = policy)} />
            <span>
              <strong>{policy}</strong> <span class="muted">{MEANINGS[policy]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <KubectlLine command={objectCommand('delete', resource, name, namespace, `--cascade=${propagation.value.toLowerCase()}`)} />
      <div class="edit-actions">
        <button type="button" class="danger" disabled={isBusy.value} onClick={() => void remove()}>
          Delete
        </button>
        <button type="button" class="quiet" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

interface ConsequencesProps {
  dependents: readonly GraphNode[] | undefined;
  finalizers: readonly string[];
  propagation: Propagation;
  isNamespace: boolean;
}

const MAX_SHOWN = 12;

function Consequences({ dependents, finalizers, propagation, isNamespace }: ConsequencesProps) {
  const verb = propagation === 'Orphan' ? 'stays' : 'goes too';
  return (
    <div class="consequences" aria-live="polite">
      {isNamespace && <p>Everything in the namespace goes too.</p>}
      {finalizers.length > 0 && (
        <p>
          It stays, marked as being deleted, until {finalizers.length === 1 ? 'this finalizer is' : 'these finalizers are'} taken off by whoever put{' '}
          {finalizers.length === 1 ? 'it' : 'them'} there:{' '}
          {finalizers.map((finalizer) => (
            <code key={finalizer}>{finalizer} </code>
          ))}
        </p>
      )}
      {dependents === undefined && <p class="muted">Looking for what it owns…</p>}
      {dependents?.length === 0 && <p>It owns nothing.</p>}
      {dependents !== undefined && dependents.length > 0 && (
        <>
          <p>
            What it owns {verb}: {dependents.length} {dependents.length === 1 ? 'object' : 'objects'}.
          </p>
          <ul class="entries">
            {dependents.slice(0, MAX_SHOWN).map((node) => (
              <li key={node.uid}>
                <span class="muted">{node.kind}</span> {node.name}
                {node.finalizers.length > 0 && <span class="tag">waits for {node.finalizers.join(', ')}</span>}
              </li>
            ))}
            {dependents.length > MAX_SHOWN && <li class="muted">and {dependents.length - MAX_SHOWN} more</li>}
          </ul>
        </>
      )}
    </div>
  );
}
