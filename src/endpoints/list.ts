import type { ListOptions } from '../registry/store.ts';
import { timeout } from '../api/errors.ts';
import { answerList, outputForm } from './answer.ts';
import { parseListOptions } from './options.ts';
import { listAsOf } from './read-as-of.ts';
import type { ServerRequest } from './request.ts';
import { namespaceOf } from './scope.ts';
import type { ResourceTarget } from './target.ts';

export function handleList(request: ServerRequest, target: ResourceTarget): void | Promise<void> {
  const form = outputForm(request, target, true);
  const options: ListOptions = { ...parseListOptions(request.query, { target, name: '' }), checkWanted: () => checkWanted(request) };
  const namespace = namespaceOf(request, target);
  const found = request.asOf === undefined ? target.store.list(namespace, options) : listAsOf(target.store, namespace, options, request.asOf);
  if (found instanceof Promise) return found.then((result) => answerList(request, target, form, result));
  return answerList(request, target, form, found);
}

/** A client that has gone, or was told that the deadline has passed, is not answered; what the request does for it ends. */
function checkWanted({ exchange }: ServerRequest): void {
  if (exchange.isClosed) throw timeout('the client has gone');
}
