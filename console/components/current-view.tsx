import { useSignal } from '@preact/signals';
import { type ResourcePath, parsePath } from '../api/resource-path.ts';
import { useApp } from '../state/app.ts';
import { ChangesView } from '../views/changes-view.tsx';
import { ExplainView } from '../views/explain-view.tsx';
import { Overview } from '../views/overview.tsx';
import { RequestsView } from '../views/requests-view.tsx';
import { ServerView } from '../views/server-view.tsx';
import { TableView } from '../views/table-view.tsx';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';

/** A view whose code is loaded when it is first shown. */
export function lazyView<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function LazyView(props: Props) {
    const component = useSignal(loaded);
    const hasFailed = useSignal(false);
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (view) => {
          loaded = view;
          component.value = view;
        },
        () => (hasFailed.value = true),
      );
    }, []);
    const View = component.value;
    if (View !== undefined) return <View {...props} />;
    return hasFailed.value ? (
      <p class="notice" role="alert">
        The server has another version of this page now. Load it again.
      </p>
    ) : (
      <p class="loading">Loading…</p>
    );
  };
}

/** These need the YAML parser and the editor, which are most of all that there is. */
const ObjectView = lazyView(async () => (await import('../views/object-view.tsx')).ObjectView);
const CreateView = lazyView(async () => (await import('../views/create-view.tsx')).CreateView);

/** By their addresses. */
const VIEWS: Readonly<Record<string, ComponentType>> = {
  '/': Overview,
  '/server': ServerView,
  '/requests': RequestsView,
  '/explain': ExplainView,
  '/changes': ChangesView,
};

/** The view that the address names. */
export function CurrentView() {
  const { router } = useApp();
  const { path } = router.route.value;
  const place = parsePath(path);
  if (place !== undefined) return <ResourceView place={place} />;
  const View = VIEWS[path];
  if (View !== undefined) return <View />;
  return <p class="notice">Nothing is at this address.</p>;
}

/** A table, an object or a new object, of a resource that the server serves. */
function ResourceView({ place }: { place: ResourcePath }) {
  const app = useApp();
  const { group, plural, version, namespace, name } = place;
  const resource = app.discovery.value?.find(group, plural, version);
  useEffect(() => {
    // Tables of other resources show the namespace that was looked at last.
    if (resource?.isNamespaced && name === undefined) app.namespace.value = namespace ?? '';
  }, [resource?.isNamespaced, namespace, name]);
  if (app.discovery.value === undefined) return <p class="loading">Asking what the server serves…</p>;
  if (resource === undefined) {
    return (
      <p class="notice" role="alert">
        The server serves no {plural} in {group === '' ? 'the core group' : group}, version {version}.
      </p>
    );
  }
  if (app.router.route.value.query.has('create')) return <CreateView key={`${group}/${plural}`} place={place} resource={resource} />;
  if (name !== undefined) return <ObjectView place={{ ...place, name }} resource={resource} />;
  return <TableView key={`${group}/${plural}`} place={place} resource={resource} />;
}
