import type { ActionName } from './actions.ts';
import type { Method } from './routes.ts';

/** What an operation is done on. */
export interface Described {
  /** Of the resource, also where a subresource has a kind of its own. */
  kind: string;
  subresource?: string;
  /** Whether a list may be watched. */
  isWatchable: boolean;
}

const DEPRECATED = "deprecated: use the 'watch' parameter with a list operation instead";

/** An operation in words (apiserver/pkg/endpoints/installer.go, registerResourceHandlers). */
export function describeAction(action: ActionName, { kind, subresource, isWatchable }: Described): string {
  const part = subresource === undefined ? '' : `${subresource} of `;
  switch (action) {
    case 'get':
      return `read ${part}the specified ${kind}`;
    case 'list':
      return `list ${isWatchable ? 'or watch ' : ''}${part}objects of kind ${kind}`;
    case 'put':
      return `replace ${part}the specified ${kind}`;
    case 'patch':
      return `partially update ${part}the specified ${kind}`;
    case 'post':
      return `create ${part}${withArticle(kind)}`;
    case 'delete':
      return `delete ${part}${withArticle(kind)}`;
    case 'deletecollection':
      return `delete collection of ${part}${kind}`;
    case 'watch':
      return `watch changes to ${part}an object of kind ${kind}. ${DEPRECATED}, filtered to a single item with the 'fieldSelector' parameter.`;
    case 'watchlist':
      return `watch individual changes to a list of ${part}${kind}. ${DEPRECATED}.`;
  }
}

export const describeConnection = (method: Method, subresource: string, kind: string): string =>
  `connect ${method.toUpperCase()} requests to ${subresource} of ${kind}`;

function withArticle(kind: string): string {
  const article = articleOf(kind);
  return article === 'none' ? kind : `${article} ${kind}`;
}

/** What looks like a plural, as Endpoints does, has none (GetArticleForNoun). */
export function articleOf(kind: string): 'a' | 'an' | 'none' {
  if (kind.endsWith('s') && !kind.endsWith('ss')) return 'none';
  return /^[aeiou]/i.test(kind) ? 'an' : 'a';
}
