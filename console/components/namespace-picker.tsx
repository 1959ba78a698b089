import { formatPath, parsePath } from '../api/resource-path.ts';
import { useApp } from '../state/app.ts';

/** The namespace that tables show. Who may not list namespaces types one. */
export function NamespacePicker() {
  const app = useApp();
  const { names, isRefused } = app.namespaces;
  const choose = (namespace: string): void => {
    app.namespace.value = namespace;
    const place = parsePath(app.router.route.value.path);
    const resource = place && app.discovery.value?.find(place.group, place.plural);
    if (!place || !resource?.isNamespaced) return;
    const { namespace: _, name: __, ...collection } = place;
    app.router.go(formatPath({ ...collection, ...(namespace !== '' && { namespace }) }));
  };
  if (isRefused.value) {
    return (
      <input
        id="namespace"
        class="namespace"
        aria-label="Namespace"
        placeholder="Namespace (all)"
        value={app.namespace.value}
        onChange={(event) => choose(event.currentTarget.value.trim())}
      />
    );
  }
  return (
    <select id="namespace" class="namespace" aria-label="Namespace" value={app.namespace.value} onChange={(event) => choose(event.currentTarget.value)}>
      <option value="">All namespaces</option>
      {withCurrent(names.value, app.namespace.value).map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The one that is shown may not exist any more, or not yet. */
const withCurrent = (names: readonly string[], current: string): readonly string[] => (current === '' || names.includes(current) ? names : [current, ...names]);
