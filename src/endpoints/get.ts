import { answerEntry, outputForm } from './answer.ts';
import { parseGetOptions } from './options.ts';
import type { ServerRequest } from './request.ts';
import { getAsOf } from './read-as-of.ts';
import { nameOf, namespaceOf } from './scope.ts';
import type { ResourceTarget } from './target.ts';

/** Synchronous where the store is: most reads are. */
export function handleGet(request: ServerRequest, target: ResourceTarget): void | Promise<void> {
  const form = outputForm(request, target);
  const resourceVersion = request.exchange.target.includes('?') ? parseGetOptions(request.query, target.store.definition.storage.isUncached ?? false) : '';
  const namespace = namespaceOf(request, target);
  const name = nameOf(request);
  const found = request.asOf === undefined ? target.store.get(namespace, name, resourceVersion) : getAsOf(target.store, namespace, name, request.asOf);
  if (found instanceof Promise) return found.then((entry) => answerEntry(request, target, 200, form, entry));
  return answerEntry(request, target, 200, form, found);
}
