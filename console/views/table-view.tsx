import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Resource } from '../api/discovery.ts';
import { type ResourcePath, formatPath } from '../api/resource-path.ts';
import { KubectlLine } from '../components/kubectl-line.tsx';
import { Refused } from '../components/refused.tsx';
import { TableToolbar } from '../components/table-toolbar.tsx';
import { Timeline } from '../components/timeline.tsx';
import { useNow } from '../components/use-now.ts';
import { VirtualTable } from '../components/virtual-table.tsx';
import { pastCommand, pastPath } from '../history/change.ts';
import { getCommand } from '../objects/kubectl.ts';
import { type App, hasHistory, useApp } from '../state/app.ts';
import { LiveTable } from '../state/live-table.ts';
import type { Sorting } from '../table/table-model.ts';
import type { Row } from '../table/table-rows.ts';

interface TableViewProps {
  place: ResourcePath;
  resource: Resource;
}

/** A collection in the server's own columns, live. */
export function TableView({ place, resource }: TableViewProps) {
  const app = useApp();
  const { query } = app.router.route.value;
  const live = useMemo(() => new LiveTable(app.client), []);
  const selected = useSignal(-1);
  const nowMs = useNow();
  const path = formatPath(place);
  const labelSelector = query.get('labelSelector') ?? '';
  const fieldSelector = query.get('fieldSelector') ?? '';
  const search = query.get('search') ?? '';
  const sorting = parseSorting(query.get('sort'));

  const at = query.get('at') ?? undefined;
  useEffect(() => {
    if (at === undefined) live.open({ path, labelSelector, fieldSelector });
    else void live.openOnce(pastPath(place), { at, labelSelector, fieldSelector });
  }, [path, labelSelector, fieldSelector, at]);
  useEffect(() => () => live.close(), []);
  useEffect(() => {
    live.model.search(search);
    live.refresh();
  }, [search]);
  useEffect(() => {
    live.model.sort(sorting);
    live.refresh();
  }, [query.get('sort')]);
  useEffect(() => app.keyboard.add(rowShortcuts(app, live, selected, place)), [path]);

  const hasNamespaces = resource.isNamespaced && place.namespace === undefined;
  return (
    <div class="view">
      <TableToolbar live={live} resource={resource} place={place} />
      {live.error.value ? (
        <Refused error={live.error.value} isWatched />
      ) : (
        <VirtualTable
          live={live}
          label={resource.plural}
          hasNamespaces={hasNamespaces}
          isWide={query.has('wide')}
          sorting={sorting}
          onSort={(column) => app.router.setQuery({ sort: nextSorting(sorting, column) })}
          selected={selected}
          hrefOf={(row) => addressOf(place, row)}
          nowMs={nowMs}
        />
      )}
      {hasHistory(app) && <Timeline place={place} at={at} onAt={(moment) => app.router.setQuery({ at: moment })} />}
      <KubectlLine command={at === undefined ? getCommand({ resource, namespace: place.namespace, labelSelector, fieldSelector }) : pastCommand(place, at)} />
    </div>
  );
}

const addressOf = ({ group, version, plural }: ResourcePath, { namespace, name }: Row): string =>
  formatPath({ group, version, plural, name, ...(namespace !== '' && { namespace }) });

/** `3` is by the fourth column, `-3` downwards; `n` stands for the namespace. */
function parseSorting(text: string | null): Sorting | undefined {
  const match = /^(-?)(\d+|n)$/.exec(text ?? '');
  return match ? { column: match[2] === 'n' ? -1 : Number(match[2]), isDescending: match[1] === '-' } : undefined;
}

/** Up, then down, then as the server has it. */
function nextSorting(sorting: Sorting | undefined, column: number): string {
  const name = column < 0 ? 'n' : String(column);
  if (sorting?.column !== column) return name;
  return sorting.isDescending ? '' : `-${name}`;
}

function rowShortcuts(app: App, live: LiveTable, selected: { value: number }, place: ResourcePath) {
  const move = (step: number): void => {
    selected.value = Math.max(0, Math.min(live.model.view.length - 1, selected.value + step));
  };
  const open = (): void => {
    const row = live.model.view[selected.value];
    if (row) app.router.go(addressOf(place, row));
  };
  return [
    { keys: 'j', what: 'Next row', run: () => move(1) },
    { keys: 'k', what: 'Row before', run: () => move(-1) },
    { keys: 'Enter', what: 'Open the row', run: open },
    { keys: 'c', what: 'Create', run: () => app.router.go(`${formatPath(place)}?create`) },
  ];
}
