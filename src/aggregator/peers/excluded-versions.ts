import type { CustomResourceDefinition } from '../../apis/facts/types/apiextensions-v1.ts';
import type { APIService } from '../../apis/facts/types/apiregistration-v1.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { Informer } from '../../client/client.ts';

/** After so long all servers have seen that a definition or an APIService is gone. */
const GRACE_MS = 5 * 60_000;

/**
 * Group-versions that are never a peer's: those of definitions and of APIServices with a service, which all servers share. What this server knows of them
 * counts, and for a while what it has known: what a peer has said of its resources is not asked for again when one goes
 * (apiserver/pkg/util/peerproxy/gv_exclusion_manager.go).
 */
export class ExcludedVersions {
  /** How many objects name each. */
  readonly #counts = new Map<string, number>();
  readonly #graces = new Map<string, NodeJS.Timeout>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  has(group: string, version: string): boolean {
    const key = `${group}/${version}`;
    return this.#counts.has(key) || this.#graces.has(key);
  }

  /** Resolves when all that is stored is known. Returns the way to stop. */
  async follow(definitions: Informer<CustomResourceDefinition>, apiServices: Informer<APIService>): Promise<() => void> {
    await Promise.all([definitions.synced, apiServices.synced]);
    const stops = [this.#followOne(definitions, definedVersions), this.#followOne(apiServices, aggregatedVersions)];
    return () => {
      for (const stop of stops) stop();
      for (const timer of this.#graces.values()) clearTimeout(timer);
      this.#graces.clear();
    };
  }

  #followOne<T extends ApiObject>(informer: Informer<T>, versionsOf: (object: T) => string[]): () => void {
    const stop = informer.onChange((object, old) => {
      // The new ones first: what both have stays.
      for (const key of object ? versionsOf(object) : []) this.#add(key);
      for (const key of old ? versionsOf(old) : []) this.#remove(key);
    });
    for (const object of informer.list('')) for (const key of versionsOf(object)) this.#add(key);
    return stop;
  }

  #add(key: string): void {
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    if (count > 0) return;
    clearTimeout(this.#graces.get(key));
    if (!this.#graces.delete(key)) this.#onChange();
  }

  #remove(key: string): void {
    const count = this.#counts.get(key)! - 1;
    if (count > 0) return void this.#counts.set(key, count);
    this.#counts.delete(key);
    const end = (): void => {
      this.#graces.delete(key);
      this.#onChange();
    };
    this.#graces.set(key, setTimeout(end, GRACE_MS).unref());
  }
}

const definedVersions = ({ spec: { group, versions } }: CustomResourceDefinition): string[] => (versions ?? []).map(({ name }) => `${group}/${name}`);

const aggregatedVersions = ({ spec: { group = '', version = '', service } }: APIService): string[] => (service === undefined ? [] : [`${group}/${version}`]);
