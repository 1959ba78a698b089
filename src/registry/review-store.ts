import type { CacheEntry } from '../storage/cache/cache.ts';
import type { Subscription } from '../storage/engine.ts';
import type { ApiObject } from '../api/api-object.ts';
import { methodNotSupported } from '../api/errors.ts';
import type { AdmissionController } from './admission.ts';
import type { ResourceDefinition } from './definition.ts';
import { recordOwnership } from './field-ownership.ts';
import type { RequestContext } from './request-context.ts';
import type { DeleteResult, ListResult, ResourceStore, WriteOptions, WriteResult } from './store.ts';
import { type NextObject, convertObject, defaultObject } from './write.ts';

/** Answers what a client posts; nothing is kept. Where the answer is a Status, it says that something was done (the former bindings). */
export type ReviewHandler<T extends ApiObject = ApiObject> = (
  object: T,
  context: RequestContext,
  namespace: string,
  dryRun: boolean,
  now: Date,
) => Promise<T> | T;

/** A resource of questions: what is posted is admitted, answered and forgotten (access reviews, token reviews). */
export class ReviewStore<T extends ApiObject = ApiObject> implements ResourceStore<T> {
  readonly definition: ResourceDefinition<T>;
  readonly ready = Promise.resolve();
  readonly #review: ReviewHandler<T>;
  readonly admission: AdmissionController;

  readonly #now: () => Date;

  constructor(definition: ResourceDefinition<T>, review: ReviewHandler<T>, admission: AdmissionController, now: () => Date) {
    this.#now = now;
    this.definition = definition;
    this.#review = review;
    this.admission = admission;
  }

  async create(context: RequestContext, namespace: string, decode: NextObject<T>, options: WriteOptions): Promise<WriteResult<T>> {
    const sent = await decode(undefined);
    defaultObject(sent);
    const { object, sentEmpty } = convertObject(sent);
    const { group, version, kind, plural, namespaced } = this.definition;
    if (namespaced) object.metadata.namespace ??= namespace;
    const { dryRun, raw } = options;
    const attributes = {
      operation: 'CREATE' as const,
      group,
      version,
      resource: plural,
      subresource: '',
      kind: { group, version, kind },
      namespace,
      name: object.metadata.name ?? '',
      object,
      sentEmpty,
      oldObject: undefined,
      options: raw,
      dryRun,
      user: context.user,
      context,
      definition: this.definition as unknown as ResourceDefinition,
      apiVersion: options.apiVersion,
    };
    const now = this.#now();
    await recordOwnership({ definition: this.definition, context, options, now }, { object, sentEmpty }, undefined);
    await this.admission.mutate(attributes);
    await this.admission.validate(attributes);
    return { object: await this.#review(object, context, namespace, dryRun, now), entry: undefined, created: true };
  }

  get(): CacheEntry {
    throw this.#unsupported('get');
  }
  list(): ListResult {
    throw this.#unsupported('list');
  }
  watch(): Promise<Subscription> {
    throw this.#unsupported('watch');
  }
  update(): Promise<WriteResult<T>> {
    throw this.#unsupported('update');
  }
  delete(): Promise<DeleteResult<T>> {
    throw this.#unsupported('delete');
  }
  deleteCollection(): Promise<ListResult> {
    throw this.#unsupported('deletecollection');
  }
  amend(): Promise<T> {
    throw this.#unsupported('update');
  }
  withoutAdmission(): ResourceStore<T> {
    return this;
  }

  #unsupported(verb: string): Error {
    return methodNotSupported({ group: this.definition.group, resource: this.definition.plural }, verb);
  }
}
