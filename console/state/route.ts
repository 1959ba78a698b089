import { type ReadonlySignal, signal } from '@preact/signals';

/** Where the page is: what stands behind the `#`. */
export interface Route {
  path: string;
  query: URLSearchParams;
}

export interface Router {
  readonly route: ReadonlySignal<Route>;
  go(href: string): void;
  /** Changes the query of where the page is; an empty value leaves it out. It makes no step in the browser's history. */
  setQuery(changes: Record<string, string | undefined>): void;
}

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#/, '');
  const [path = '', query = ''] = text.split(/\?(.*)/s);
  return { path: path === '' ? '/' : path, query: new URLSearchParams(query) };
}

export const formatRoute = ({ path, query }: Route): string => (query.size === 0 ? `#${path}` : `#${path}?${query.toString()}`);

export function createRouter(window: Window): Router {
  const route = signal(parseRoute(window.location.hash));
  window.addEventListener('hashchange', () => {
    route.value = parseRoute(window.location.hash);
  });
  return {
    route,
    go(href) {
      window.location.hash = href;
    },
    setQuery(changes) {
      const { path, query } = route.value;
      const next = new URLSearchParams(query);
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined || value === '') next.delete(name);
        else next.set(name, value);
      }
      route.value = { path, query: next };
      window.history.replaceState(null, '', formatRoute(route.value));
    },
  };
}
