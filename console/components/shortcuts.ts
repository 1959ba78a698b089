import { formatPath } from '../api/resource-path.ts';
import type { App } from '../state/app.ts';
import type { Shortcut } from '../state/keyboard.ts';

/** `g` and a letter: the resources that people look at most. */
const PLACES: readonly [key: string, group: string, plural: string][] = [
  ['p', '', 'pods'],
  ['d', 'apps', 'deployments'],
  ['s', '', 'services'],
  ['c', '', 'configmaps'],
  ['n', '', 'namespaces'],
  ['o', '', 'nodes'],
  ['e', '', 'events'],
  ['j', 'batch', 'jobs'],
];
const VIEWS: readonly [key: string, path: string, what: string][] = [
  ['h', '/', 'Overview'],
  ['a', '/server', 'Server'],
  ['r', '/requests', 'Requests'],
  ['w', '/explain', 'Why was it refused'],
  ['t', '/changes', 'Changes'],
];

/** Keys that work in every view. */
export function globalShortcuts(app: App): Shortcut[] {
  const { router } = app;
  return [
    { keys: '?', what: 'These shortcuts', run: () => (app.dialog.value = 'help') },
    { keys: ':', what: 'Find a resource', run: () => focusOn('#resource-filter', app) },
    { keys: '/', what: 'Search in what is shown', run: () => focusOn('#search', app) },
    { keys: 'Escape', what: 'Close, or leave a field', run: () => escape(app) },
    { keys: 'g g', what: 'Choose a namespace', run: () => focusOn('#namespace', app) },
    ...PLACES.map(([key, group, plural]) => ({ keys: `g ${key}`, what: plural, run: () => goToResource(app, group, plural) })),
    ...VIEWS.map(([key, path, what]) => ({ keys: `g ${key}`, what, run: () => router.go(path) })),
  ];
}

function goToResource({ discovery, namespace, router }: App, group: string, plural: string): void {
  const resource = discovery.value?.find(group, plural);
  if (resource === undefined) return;
  const scope = resource.isNamespaced && namespace.value !== '' ? { namespace: namespace.value } : {};
  router.go(formatPath({ group, version: resource.version, plural, ...scope }));
}

function focusOn(selector: string, app: App): void {
  const element = document.querySelector<HTMLInputElement>(selector);
  if (selector === '#resource-filter') app.isMenuOpen.value = true;
  element?.focus();
  if (element instanceof HTMLInputElement) element.select();
}

function escape(app: App): void {
  app.isMenuOpen.value = false;
  app.dialog.value = undefined;
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}
