import type { Method } from './routes.ts';

/** What one action on a resource is, whatever the resource. */
export interface Action {
  method: Method;
  /** In operation ids. */
  word: string;
  /** The kinds whose fields are query parameters, with those left out that mean nothing here. */
  options: readonly string[];
  without?: readonly string[];
  body?: 'object' | 'patch' | 'deleteOptions';
  answer: 'object' | 'list' | 'event' | 'status' | 'deleted';
  statuses: readonly number[];
  /** May be asked for as a stream of events. */
  isStream?: boolean;
}

const OK = 200;
const CREATED = 201;
const ACCEPTED = 202;

/** By x-kubernetes-action. */
export const ACTIONS = {
  list: { method: 'get', word: 'list', options: ['ListOptions'], answer: 'list', statuses: [OK], isStream: true },
  watchlist: { method: 'get', word: 'watch', options: ['ListOptions'], answer: 'event', statuses: [OK], isStream: true },
  watch: { method: 'get', word: 'watch', options: ['ListOptions'], answer: 'event', statuses: [OK], isStream: true },
  get: { method: 'get', word: 'read', options: [], answer: 'object', statuses: [OK] },
  post: { method: 'post', word: 'create', options: ['CreateOptions'], body: 'object', answer: 'object', statuses: [OK, CREATED, ACCEPTED] },
  put: { method: 'put', word: 'replace', options: ['UpdateOptions'], body: 'object', answer: 'object', statuses: [OK, CREATED] },
  patch: { method: 'patch', word: 'patch', options: ['PatchOptions'], body: 'patch', answer: 'object', statuses: [OK, CREATED] },
  delete: { method: 'delete', word: 'delete', options: ['DeleteOptions'], body: 'deleteOptions', answer: 'deleted', statuses: [OK, ACCEPTED] },
  deletecollection: {
    method: 'delete',
    word: 'deletecollection',
    options: ['DeleteOptions', 'ListOptions'],
    without: ['watch', 'allowWatchBookmarks'],
    body: 'deleteOptions',
    answer: 'status',
    statuses: [OK],
  },
} as const satisfies Record<string, Action>;

export type ActionName = keyof typeof ACTIONS;

/** Custom resources are published by other code, which differs (apiextensions-apiserver/pkg/controller/openapi/builder). */
export const CUSTOM_ACTIONS: Readonly<Record<ActionName, Action>> = {
  ...ACTIONS,
  get: { ...ACTIONS.get, options: ['GetOptions'] },
  patch: { ...ACTIONS.patch, statuses: [OK] },
  deletecollection: { method: 'delete', word: 'deletecollection', options: ['ListOptions'], answer: 'status', statuses: [OK] },
};

/** Discovery's verb → the action, by where it is done. */
export const COLLECTION_ACTIONS: Readonly<Record<string, ActionName>> = {
  list: 'list',
  create: 'post',
  deletecollection: 'deletecollection',
  watch: 'watchlist',
};
export const ALL_NAMESPACES_ACTIONS: Readonly<Record<string, ActionName>> = { list: 'list', watch: 'watchlist' };
export const OBJECT_ACTIONS: Readonly<Record<string, ActionName>> = { get: 'get', update: 'put', patch: 'patch', delete: 'delete', watch: 'watch' };
export const SUBRESOURCE_ACTIONS: Readonly<Record<string, ActionName>> = { create: 'post', get: 'get', update: 'put', patch: 'patch' };

/** What neither verbs nor kinds tell of a subresource that is only read: it takes this kind's fields as query parameters, and gives text, in these types too. */
export const TEXT_SUBRESOURCES: Readonly<Record<string, { options: string; produces: readonly string[] }>> = {
  'pods/log': { options: 'PodLogOptions', produces: ['text/plain'] },
};
