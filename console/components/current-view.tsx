import { useEffect } from 'preact/hooks';
import { parsePath } from '../api/resource-path.ts';
import { useApp } from '../state/app.ts';
import { TableView } from '../views/table-view.tsx';

/** The view that the address names. */
export function CurrentView() {
  const app = useApp();
  const { path } = app.router.route.value;
  const place = parsePath(path);
  useEffect(() => {
    // Tables of other resources show the namespace that was looked at last.
    if (place !== undefined && place.name === undefined) app.namespace.value = place.namespace ?? app.namespace.value;
  }, [path]);
  if (place !== undefined) return <TableView place={place} />;
  return <p>Nothing is at this address.</p>;
}
