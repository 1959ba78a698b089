import { answerList, outputForm } from './answer.ts';
import { readDeleteOptions } from './delete.ts';
import { checkListVersion, parseListQuery, refuseUnsafeCollection } from './options.ts';
import type { ServerRequest } from './request.ts';
import { namespaceOf } from './scope.ts';
import type { ResourceTarget } from './target.ts';

export async function handleDeleteCollection(request: ServerRequest, target: ResourceTarget): Promise<void> {
  const form = outputForm(request, target);
  const selected = parseListQuery(request.query, { target, name: '' });
  const options = await readDeleteOptions(request, target);
  refuseUnsafeCollection(options);
  checkListVersion(selected);
  const deleted = await target.store.deleteCollection(request, namespaceOf(request, target), selected, options);
  return answerList(request, target, form, deleted);
}
