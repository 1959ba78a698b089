import { useComputed, useSignal } from '@preact/signals';
import { type Resource, type ResourceGroup, listableGroups } from '../api/discovery.ts';
import { formatPath, parsePath } from '../api/resource-path.ts';
import { hasHistory, useApp } from '../state/app.ts';
import { ChevronIcon, SearchIcon } from './icons.tsx';

const VIEWS: readonly [path: string, name: string][] = [
  ['/', 'Overview'],
  ['/server', 'Server'],
  ['/requests', 'Requests'],
  ['/explain', 'Why was it refused?'],
];
/** Groups that are open at first; of the others, the one that is looked at. */
const OPEN_GROUPS: ReadonlySet<string> = new Set(['', 'apps', 'batch']);

/** The views, and every resource that can be listed, by group. */
export function Sidebar() {
  const app = useApp();
  const filter = useSignal('');
  const groups = useComputed(() => (app.discovery.value === undefined ? [] : filtered(listableGroups(app.discovery.value), filter.value)));
  const { path } = app.router.route.value;
  const close = (): void => {
    app.isMenuOpen.value = false;
  };
  return (
    <nav class="sidebar" aria-label="Views and resources">
      <ul class="views">
        {[...VIEWS, ...(hasHistory(app) ? ([['/changes', 'Changes']] as const) : [])].map(([to, name]) => (
          <li key={to}>
            <a href={`#${to}`} aria-current={path === to ? 'page' : undefined} onClick={close}>
              {name}
            </a>
          </li>
        ))}
      </ul>
      <label class="field-icon">
        <SearchIcon />
        <input
          id="resource-filter"
          type="search"
          placeholder="Find a resource"
          aria-label="Find a resource"
          value={filter.value}
          onInput={(event) => (filter.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            const first = groups.value[0]?.resources[0];
            if (event.key !== 'Enter' || first === undefined) return;
            app.router.go(addressOf(first, app.namespace.value));
            filter.value = '';
            event.currentTarget.blur();
            close();
          }}
        />
      </label>
      <div class="tree" onClick={(event) => event.target instanceof HTMLAnchorElement && close()}>
        {groups.value.map((group) => (
          <Group key={group.name} group={group} isFiltered={filter.value !== ''} />
        ))}
        {filter.value !== '' && groups.value.length === 0 && <p class="muted">No resource has that name.</p>}
      </div>
    </nav>
  );
}

interface GroupProps {
  group: ResourceGroup;
  isFiltered: boolean;
}

function Group({ group, isFiltered }: GroupProps) {
  const app = useApp();
  const place = parsePath(app.router.route.value.path);
  const isCurrent = place?.group === group.name;
  return (
    <details open={isFiltered || isCurrent || OPEN_GROUPS.has(group.name)}>
      <summary title={group.versions.join(', ')}>
        <ChevronIcon />
        {group.name === '' ? 'core' : group.name}
      </summary>
      <ul>
        {group.resources.map((resource) => (
          <li key={resource.plural}>
            <a
              href={`#${addressOf(resource, app.namespace.value)}`}
              aria-current={isCurrent && place.plural === resource.plural ? 'page' : undefined}
              title={`${resource.kind}, ${resource.version}${resource.shortNames.length > 0 ? `, ${resource.shortNames.join(', ')}` : ''}`}
            >
              {resource.plural}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

const addressOf = ({ group, version, plural, isNamespaced }: Resource, namespace: string): string =>
  formatPath({ group, version, plural, ...(isNamespaced && namespace !== '' && { namespace }) });

/** Resources whose names have the text; those that begin with it, or have it as a short name, come first. */
function filtered(groups: ResourceGroup[], text: string): ResourceGroup[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return groups;
  const rank = ({ plural, kind, shortNames }: Resource): number => {
    if (shortNames.includes(wanted) || plural === wanted) return 3;
    if (plural.startsWith(wanted)) return 2;
    return plural.includes(wanted) || kind.toLowerCase().includes(wanted) ? 1 : 0;
  };
  return groups
    .map((group) => ({ ...group, resources: group.resources.filter((resource) => rank(resource) > 0).sort((a, b) => rank(b) - rank(a)) }))
    .filter(({ resources }) => resources.length > 0)
    .sort((a, b) => rank(b.resources[0]!) - rank(a.resources[0]!));
}
