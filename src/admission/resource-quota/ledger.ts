import type { ResourceQuota } from '../../apis/facts/types/core-v1.ts';
import { amountsIn, areEqual } from '../../apis/core/quota/amounts.ts';
import type { Evaluator } from '../../apis/core/quota/evaluator.ts';
import type { ResourceClient } from '../../client/client.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { conflict, isApiError } from '../../api/errors.ts';
import { type SlicedWork, TimeSlice, runSliced } from '../../util/time-slice.ts';
import { type LimitedResource, charged } from './quota-check.ts';

const RETRIES = 3;
/** Up to here, slices would only cost. */
const FEW_QUOTAS = 10;

interface Waiting {
  attributes: AdmissionAttributes;
  evaluator: Evaluator;
  admit(): void;
  refuse(error: unknown): void;
}

/**
 * Charges writes to the quotas of their namespace. Those that come while a charge is being written wait for it, and are then charged together with one
 * write to each quota: so many at once cost few conflicts. A charge counts only if the quota is still what it was checked against.
 */
export class QuotaLedger {
  readonly #quotas: ResourceClient<ResourceQuota>;
  readonly #limited: readonly LimitedResource[];
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(quotas: ResourceClient<ResourceQuota>, limited: readonly LimitedResource[]) {
    this.#quotas = quotas;
    this.#limited = limited;
  }

  charge(attributes: AdmissionAttributes, evaluator: Evaluator): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry: Waiting = { attributes, evaluator, admit: resolve, refuse: reject };
      const queue = this.#waiting.get(attributes.namespace);
      if (queue) queue.push(entry);
      else {
        this.#waiting.set(attributes.namespace, [entry]);
        void this.#work(attributes.namespace);
      }
    });
  }

  /** Until nobody waits for the namespace. */
  async #work(namespace: string): Promise<void> {
    for (let batch = this.#waiting.get(namespace)!; batch.length > 0; batch = this.#waiting.get(namespace)!) {
      this.#waiting.set(namespace, []);
      try {
        await this.#settle(batch, this.#quotas.informer.list(namespace), RETRIES);
      } catch (error) {
        for (const entry of batch) entry.refuse(error);
      }
    }
    this.#waiting.delete(namespace);
  }

  /** Answers all of the batch. Quotas that were overtaken are read again, for those whom they were to be charged for. */
  async #settle(batch: readonly Waiting[], quotas: readonly ResourceQuota[], retries: number): Promise<void> {
    const isMany = quotas.length > FEW_QUOTAS;
    const { pending, changed } = await runSliced(this.#check(batch, quotas), isMany);
    const failures = new Map<string, unknown>();
    const slice = new TimeSlice();
    for (const quota of changed) {
      if (slice.isSpent) await slice.next();
      try {
        await this.#write(quota);
      } catch (error) {
        failures.set(quota.metadata.name!, error);
      }
    }
    if (failures.size === 0) for (const entry of pending) entry.admit();
    else if (retries === 0) for (const entry of pending) entry.refuse([...failures.values()].at(-1));
    else {
      const namespace = changed[0]!.metadata.namespace!;
      // Another server may have written them: of that the informer may not know yet.
      const again = (await this.#quotas.list(namespace)).filter(({ metadata }) => failures.has(metadata.name!));
      await this.#settle(pending, again, retries - 1);
    }
  }

  /** Refuses some, admits those that cost nothing; the others are pending until the quotas are written. */
  *#check(batch: readonly Waiting[], quotas: readonly ResourceQuota[]): SlicedWork<{ pending: Waiting[]; changed: readonly ResourceQuota[] }> {
    const pending: Waiting[] = [];
    let result = quotas;
    for (const entry of batch) {
      try {
        const next = yield* charged(result, entry.attributes, entry.evaluator, this.#limited);
        if (next === result || entry.attributes.dryRun) entry.admit();
        else {
          pending.push(entry);
          result = next;
        }
      } catch (error) {
        entry.refuse(error);
      }
    }
    const changed: ResourceQuota[] = [];
    for (const [index, quota] of result.entries()) {
      if (!haveEqualUse(quota, quotas[index]!)) changed.push(quota);
      yield;
    }
    return { pending, changed };
  }

  async #write({ metadata, status }: ResourceQuota): Promise<void> {
    const name = metadata.name!;
    try {
      await this.#quotas.update(
        metadata.namespace!,
        name,
        (current) => {
          if (current.metadata.resourceVersion !== metadata.resourceVersion) throw conflict(RESOURCE, name, OVERTAKEN);
          current.status.used = { ...status.used };
        },
        'status',
      );
    } catch (error) {
      // One that is gone limits nobody.
      if (!isApiError(error, 'NotFound')) throw error;
    }
  }
}

const RESOURCE = { group: '', resource: 'resourcequotas' };
const OVERTAKEN = 'the object has been modified; please apply your changes to the latest version and try again';

const haveEqualUse = (first: ResourceQuota, second: ResourceQuota): boolean =>
  first === second || areEqual(amountsIn(first.status.used), amountsIn(second.status.used));
