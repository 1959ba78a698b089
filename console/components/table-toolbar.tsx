import type { Resource } from '../api/discovery.ts';
import { type ResourcePath, formatPath } from '../api/resource-path.ts';
import { labelVocabulary } from '../selectors/completion.ts';
import { fieldVocabulary } from '../selectors/field-names.ts';
import { useApp } from '../state/app.ts';
import type { LiveTable } from '../state/live-table.ts';
import { SearchField } from './search-field.tsx';
import { SelectorInput } from './selector-input.tsx';

interface TableToolbarProps {
  live: LiveTable;
  resource: Resource;
  place: ResourcePath;
}

const STATES = { loading: 'Loading', live: 'Live', reconnecting: 'Reconnecting', refused: 'Refused', past: 'As it was' } as const;

export function TableToolbar({ live, resource, place }: TableToolbarProps) {
  const { router } = useApp();
  const { query } = router.route.value;
  const state = live.state.value;
  return (
    <div class="toolbar">
      <h1>
        {resource.plural}
        {resource.group !== '' && <small>{resource.group}</small>}
      </h1>
      <Count live={live} />
      <span class={`live state-${state}`} role="status">
        {STATES[state]}
      </span>
      <span class="spacer" />
      <SearchField label="Search in the rows" placeholder="Search  /" />
      <SelectorInput
        label="Label selector"
        placeholder="Labels: app=web"
        value={query.get('labelSelector') ?? ''}
        vocabulary={() => labelVocabulary(live.model.rows())}
        onChange={(labelSelector) => router.setQuery({ labelSelector })}
      />
      <SelectorInput
        label="Field selector"
        placeholder="Fields: metadata.name=web"
        value={query.get('fieldSelector') ?? ''}
        vocabulary={() => fieldVocabulary(resource.plural, live.model.view, live.model.columns)}
        onChange={(fieldSelector) => router.setQuery({ fieldSelector })}
      />
      <label class="check">
        <input type="checkbox" checked={query.has('wide')} onChange={(event) => router.setQuery({ wide: event.currentTarget.checked ? '1' : '' })} />
        Wide
      </label>
      {resource.verbs.includes('create') && (
        <a class="button" href={`#${formatPath(place)}?create`}>
          Create
        </a>
      )}
    </div>
  );
}

/** How many there are, and how many of them the search leaves. */
function Count({ live }: { live: LiveTable }) {
  const { size, view } = live.version.value >= 0 ? live.model : live.model;
  return <span class="count">{view.length === size ? size.toLocaleString('en') : `${view.length.toLocaleString('en')} of ${size.toLocaleString('en')}`}</span>;
}
