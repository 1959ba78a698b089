import type { APIService } from '../apis/facts/types/apiregistration-v1.ts';
import type { Informer } from '../client/client.ts';
import type { ListedVersion } from '../server/remote-apis.ts';

/** The APIServices without a server elsewhere, whoever made them: `/apis` lists them, and leaves out what someone has deleted. */
export class LocalRegistrations {
  readonly #apiServices: Informer<APIService>;
  #isComplete = false;
  #versions: readonly ListedVersion[] | undefined;

  constructor(apiServices: Informer<APIService>) {
    this.#apiServices = apiServices;
  }

  /** All that the chain serves is registered: what is missing from now on was deleted. */
  complete(): void {
    if (this.#isComplete) return;
    this.#isComplete = true;
    this.#apiServices.onChange(() => {
      this.#versions = undefined;
    });
  }

  /** The same array until an APIService has changed. Undefined before `complete`. */
  versions(): readonly ListedVersion[] | undefined {
    if (!this.#isComplete) return undefined;
    return (this.#versions ??= this.#apiServices.list('').flatMap(({ spec: { group = '', version = '', groupPriorityMinimum, versionPriority, service } }) => {
      const isListed = service === undefined && group !== '';
      return isListed ? { group, version, groupPriorityMinimum, versionPriority } : [];
    }));
  }
}
