import type { GroupResource } from '../api/api-object.ts';
import { methodNotSupported } from '../api/errors.ts';

type Refusal = () => Promise<never>;

/** What stores of resources that are only read have in common: each write is refused as a verb that the resource does not have. */
export abstract class ReadOnlyStore {
  readonly ready = Promise.resolve();
  readonly create: Refusal;
  readonly update: Refusal;
  readonly delete: Refusal;
  readonly deleteCollection: Refusal;
  readonly amend: Refusal;

  constructor(resource: GroupResource) {
    const refuse =
      (verb: string): Refusal =>
      () =>
        Promise.reject(methodNotSupported(resource, verb));
    this.create = refuse('create');
    this.update = refuse('update');
    this.delete = refuse('delete');
    this.deleteCollection = refuse('deletecollection');
    this.amend = refuse('update');
  }

  withoutAdmission(): this {
    return this;
  }
}
