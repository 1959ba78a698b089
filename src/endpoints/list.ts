import { answerList, outputForm } from './answer.ts';
import { parseListOptions } from './options.ts';
import type { ServerRequest } from './request.ts';
import { namespaceOf } from './scope.ts';
import type { ResourceTarget } from './target.ts';

export function list(request: ServerRequest, target: ResourceTarget): void | Promise<void> {
  const form = outputForm(request, target, true);
  const options = parseListOptions(request.query, { target, name: '' });
  const found = target.store.list(namespaceOf(request, target), options);
  if (found instanceof Promise) return found.then((result) => answerList(request, target, form, result));
  return answerList(request, target, form, found);
}
