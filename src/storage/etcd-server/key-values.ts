import type { GrpcError } from '../../grpc/status.ts';
import { type StorageChange, CommitConflict, type Stored } from '../engine.ts';
import type { LocalEngine } from '../engines/local-engine.ts';
import type { KeyBounds } from '../engines/range.ts';
import { COMPACTED, FUTURE_REVISION, KEY_NOT_FOUND, asEtcdError, unsupported } from './errors.ts';
import type { LeaseTable } from './leases.ts';
import {
  type Comparison,
  CompareResult,
  CompareTarget,
  type DeleteRequest,
  type PutRequest,
  type RangeRequest,
  type RequestOperation,
  type TxnRequest,
  decodeCompactionRequest,
  decodeDeleteRequest,
  decodePutRequest,
  decodeRangeRequest,
  decodeTxnRequest,
} from './requests.ts';
import {
  type LeasedItem,
  type OperationAnswer,
  type RangeAnswer,
  encodeHeader,
  encodeOperationAnswer,
  encodeRangeAnswer,
  encodeTxnAnswer,
} from './responses.ts';
import { ValueMemory } from './value-memory.ts';

/** As the end of a range: all keys from its start on. As its start: from the first key on. */
const KEYSPACE_START = '\0';

/** The part of the order of keys that a request names. */
export function boundsOf(key: string, end: string): KeyBounds {
  return { start: key, isStartExcluded: false, end: end === '' ? `${key}\0` : end === KEYSPACE_START ? undefined : end };
}

interface Written {
  revision: number;
  previous: LeasedItem | undefined;
}

interface Answered {
  revision: number;
  answer: OperationAnswer;
}

/** etcd's service `KV`. Of transactions it knows those that compare one key and then write, remove or read that key, which are all that Kubernetes has. */
export class KeyValues {
  readonly #engine: LocalEngine;
  readonly #leases: LeaseTable;
  readonly #values = new ValueMemory();

  constructor(engine: LocalEngine, leases: LeaseTable) {
    this.#engine = engine;
    this.#leases = leases;
  }

  readonly range = async (message: Buffer): Promise<Buffer> => {
    const { revision, answer } = await this.#range(decodeRangeRequest(message));
    return encodeRangeAnswer(revision, answer, this.#leases.leaseOf);
  };

  readonly put = async (message: Buffer): Promise<Buffer> => {
    const { revision, answer } = await this.#put(decodePutRequest(message));
    return encodeOperationAnswer(revision, answer, this.#leases.leaseOf);
  };

  readonly deleteRange = async (message: Buffer): Promise<Buffer> => {
    const { revision, answer } = await this.#delete(decodeDeleteRequest(message));
    return encodeOperationAnswer(revision, answer, this.#leases.leaseOf);
  };

  readonly txn = async (message: Buffer): Promise<Buffer> => {
    const { comparisons, success, failure } = checkedTxn(decodeTxnRequest(message));
    const comparison = comparisons[0];
    if (!comparison) return this.#encodeTxn(true, await this.#operations(success));
    const written = await this.#putAtOnce(comparison, success[0]);
    if (written !== undefined) return this.#encodeTxn(true, { revision: written, answers: [{ type: 'put', previous: undefined }] });
    for (;;) {
      const { stored, revision } = await this.#engine.read(comparison.key);
      if (!holds(comparison, stored)) return this.#encodeTxn(false, await this.#failed(failure, stored, revision));
      try {
        return this.#encodeTxn(true, await this.#succeeded(success, stored, revision));
      } catch (error) {
        // Somebody else was faster: what is compared with is another one now.
        if (!(error instanceof CommitConflict)) throw error;
      }
    }
  };

  /** The state of the revision itself stays, as in etcd. */
  readonly compact = async (message: Buffer): Promise<Buffer> => {
    const revision = decodeCompactionRequest(message);
    const current = await this.#engine.currentRevision();
    if (revision <= this.#engine.oldestRevision) throw COMPACTED;
    if (revision > current) throw FUTURE_REVISION;
    await this.#engine.compact(revision + 1);
    return encodeHeader(current);
  };

  /** The transaction of most writes: the commit itself compares. Undefined where it is another one, or the comparison fails. */
  async #putAtOnce(comparison: Comparison, operation: RequestOperation | undefined): Promise<number | undefined> {
    const expected = expectedBy(comparison);
    if (expected === undefined || operation?.type !== 'put') return undefined;
    const { key, value, leaseId, prevKv, ignoreValue, ignoreLease } = operation.request;
    if (leaseId !== 0n || prevKv || ignoreValue || ignoreLease) return undefined;
    try {
      return await this.#commit({ type: 'put', key, value: this.#values.copyOf(value), expected });
    } catch (error) {
      if (error instanceof CommitConflict) return undefined;
      throw error;
    }
  }

  #encodeTxn(succeeded: boolean, { revision, answers }: { revision: number; answers: readonly OperationAnswer[] }): Buffer {
    return encodeTxnAnswer(revision, succeeded, answers, this.#leases.leaseOf);
  }

  /** The branch whose comparison holds for `stored`: what it writes is written only if that is still so. Throws CommitConflict if it is not. */
  async #succeeded(
    operations: readonly RequestOperation[],
    stored: Stored | undefined,
    revision: number,
  ): Promise<{ revision: number; answers: OperationAnswer[] }> {
    const [operation] = operations;
    if (operation?.type === 'put') {
      const written = await this.#write(operation.request, stored);
      return { revision: written.revision, answers: [{ type: 'put', previous: operation.request.prevKv ? written.previous : undefined }] };
    }
    if (operation?.type === 'delete' && stored) {
      const { revision: written, previous } = await this.#remove(stored);
      return { revision: written, answers: [{ type: 'delete', count: 1, previous: operation.request.prevKv ? [previous!] : [] }] };
    }
    return this.#failed(operations, stored, revision);
  }

  /** A branch that only reads the key that was compared, from the very state that it was compared in. */
  async #failed(
    operations: readonly RequestOperation[],
    stored: Stored | undefined,
    revision: number,
  ): Promise<{ revision: number; answers: OperationAnswer[] }> {
    const answers = operations.map((operation): OperationAnswer => {
      if (operation.type === 'range') return { type: 'range', answer: answerOf(operation.request, stored ? [stored] : [], 0) };
      if (operation.type === 'delete' && !stored) return { type: 'delete', count: 0, previous: [] };
      throw unsupported(`a transaction that writes where its comparison fails`);
    });
    return { revision, answers };
  }

  /** Without a comparison there is one operation at most. */
  async #operations([operation]: readonly RequestOperation[]): Promise<{ revision: number; answers: OperationAnswer[] }> {
    if (!operation) return { revision: await this.#engine.currentRevision(), answers: [] };
    const { revision, answer } = await this.#operation(operation);
    return { revision, answers: [answer] };
  }

  async #operation(operation: RequestOperation): Promise<Answered> {
    if (operation.type === 'put') return this.#put(operation.request);
    if (operation.type === 'delete') return this.#delete(operation.request);
    if (operation.type === 'txn') throw unsupported('transactions within transactions');
    const { revision, answer } = await this.#range(operation.request);
    return { revision, answer: { type: 'range', answer } };
  }

  async #range(request: RangeRequest): Promise<{ revision: number; answer: RangeAnswer }> {
    const { key, end, limit, revision } = request;
    if (end === '' && revision === 0) {
      const state = await this.#engine.read(key);
      return { revision: state.revision, answer: answerOf(request, state.stored ? [state.stored] : [], 0) };
    }
    // What is sorted otherwise, or chosen by revision, is found among all.
    const isPlain = isInOrder(request) && !hasFilters(request);
    const pageSize = request.countOnly ? 0 : limit;
    const options = { ...(revision > 0 && { revision }), ...(isPlain && (limit > 0 || request.countOnly) && { limit: pageSize }) };
    try {
      const range = await this.#engine.rangeWithin(boundsOf(key, end), options);
      // Clients take it for the revision of what they have read, unless they have named one themselves.
      const headerRevision = revision === 0 ? range.revision : await this.#engine.currentRevision();
      return { revision: headerRevision, answer: answerOf(request, range.items, range.remaining) };
    } catch (error) {
      throw asEtcdError(error);
    }
  }

  async #put(request: PutRequest): Promise<Answered> {
    const { revision, previous } = await this.#untilWritten(request.key, (stored) => this.#write(request, stored));
    return { revision, answer: { type: 'put', previous: request.prevKv ? previous : undefined } };
  }

  async #write(request: PutRequest, stored: Stored | undefined): Promise<Written> {
    const newLease = this.#leases.forPut(request.leaseId);
    if ((request.ignoreValue || request.ignoreLease) && !stored) throw KEY_NOT_FOUND;
    const previous = stored && this.#withLease(stored);
    const value = request.ignoreValue ? stored!.value : this.#values.copyOf(request.value);
    const lease = request.ignoreLease ? this.#leases.forPut(previous!.leaseId!) : newLease;
    const revision = await this.#commit({ type: 'put', key: request.key, value, expected: stored?.revision ?? 0, ...(lease && { lease }) });
    return { revision, previous };
  }

  async #remove(stored: Stored): Promise<Written> {
    const previous = this.#withLease(stored);
    return { revision: await this.#commit({ type: 'delete', key: stored.key, expected: stored.revision }), previous };
  }

  /** Once it is written over, nobody knows its lease. */
  #withLease(stored: Stored): LeasedItem {
    return { ...stored, leaseId: this.#leases.leaseOf(stored) };
  }

  async #delete({ key, end, prevKv }: DeleteRequest): Promise<Answered> {
    if (end !== '') return this.#deleteAll({ key, end, prevKv });
    const { revision, previous } = await this.#untilWritten(key, async (stored, current) => {
      return stored ? this.#remove(stored) : { revision: current, previous: undefined };
    });
    return { revision, answer: { type: 'delete', count: previous ? 1 : 0, previous: previous && prevKv ? [previous] : [] } };
  }

  /** One key after the other, each with a revision of its own: only for people who clean up by hand, as Kubernetes never does this. */
  async #deleteAll({ key, end, prevKv }: DeleteRequest): Promise<Answered> {
    const { items } = await this.#engine.rangeWithin(boundsOf(key, end), {});
    const removed: LeasedItem[] = [];
    for (const item of items) {
      const { answer } = await this.#delete({ key: item.key, end: '', prevKv: true });
      if (answer.type === 'delete') removed.push(...answer.previous);
    }
    return { revision: await this.#engine.currentRevision(), answer: { type: 'delete', count: removed.length, previous: prevKv ? removed : [] } };
  }

  /** Writes over whatever is there. */
  async #untilWritten(key: string, write: (stored: Stored | undefined, revision: number) => Promise<Written>): Promise<Written> {
    for (;;) {
      const { stored, revision } = await this.#engine.read(key);
      try {
        return await write(stored, revision);
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error;
      }
    }
  }

  async #commit(change: StorageChange): Promise<number> {
    try {
      const revision = await this.#engine.commit(change);
      const moved = this.#leases.noteWrite(change.key, revision, change.type === 'put' ? change.lease : undefined);
      if (moved) await moved;
      return revision;
    } catch (error) {
      throw error instanceof CommitConflict ? error : asEtcdError(error);
    }
  }
}

/** The revision that the key must have for the comparison to hold; undefined where that depends on more. */
function expectedBy({ target, result, operand }: Comparison): number | undefined {
  if (result !== CompareResult.equal) return undefined;
  return target === CompareTarget.modRevision || operand === 0 ? operand : undefined;
}

/** Throws where it is none of those that this store knows. */
function checkedTxn(request: TxnRequest): TxnRequest {
  const { comparisons, success, failure } = request;
  if (comparisons.length > 1) throw unsupported('transactions that compare more than one thing');
  if (success.length > 1 || failure.length > 1) throw unsupported('transactions of several operations');
  const [comparison] = comparisons;
  if (!comparison) return request;
  if (comparison.end !== '') throw unsupported('comparisons of ranges');
  if (comparison.target > CompareTarget.modRevision) throw unsupported('comparisons of values and leases');
  for (const operations of [success, failure]) {
    const refusal = operations[0] && refusalOf(operations[0], comparison.key);
    if (refusal) throw refusal;
  }
  return request;
}

function refusalOf(operation: RequestOperation, comparedKey: string): GrpcError | undefined {
  if (operation.type === 'txn') return unsupported('transactions within transactions');
  const isRange = operation.type !== 'put' && operation.request.end !== '';
  if (operation.request.key !== comparedKey || isRange) return unsupported('transactions that compare one key and touch others');
  if (operation.type === 'range' && operation.request.revision !== 0) return unsupported('transactions that read the past');
  return undefined;
}

function holds({ target, result, operand }: Comparison, stored: Stored | undefined): boolean {
  const actual = actualOf(target, stored);
  if (result === CompareResult.equal) return actual === operand;
  if (result === CompareResult.greater) return actual > operand;
  if (result === CompareResult.less) return actual < operand;
  return actual !== operand;
}

/** A key that is absent has zeros. */
function actualOf(target: number, stored: Stored | undefined): number {
  if (!stored) return 0;
  if (target === CompareTarget.version) return stored.version ?? 1;
  return target === CompareTarget.createRevision ? (stored.createdRevision ?? stored.revision) : stored.revision;
}

const isInOrder = ({ isDescending, sortTarget }: RangeRequest): boolean => !isDescending && sortTarget === SortTarget.key;
const hasFilters = (request: RangeRequest): boolean =>
  request.minModRevision + request.maxModRevision + request.minCreateRevision + request.maxCreateRevision > 0;

const SortTarget = { key: 0, version: 1, create: 2, mod: 3, value: 4 } as const;

/** Of the items that were found, of which `remaining` more are there. */
function answerOf(request: RangeRequest, found: Stored[], remaining: number): RangeAnswer {
  const { limit, countOnly, keysOnly } = request;
  const count = found.length + remaining;
  if (countOnly) return { items: [], count, hasMore: false, keysOnly };
  const chosen = hasFilters(request) ? found.filter((item) => passes(request, item)) : found;
  const items = isInOrder(request) ? chosen : sorted(chosen, request);
  const page = limit > 0 && items.length > limit ? items.slice(0, limit) : items;
  return { items: page, count, hasMore: remaining > 0 || page.length < items.length, keysOnly };
}

function passes({ minModRevision, maxModRevision, minCreateRevision, maxCreateRevision }: RangeRequest, item: Stored): boolean {
  const created = actualOf(CompareTarget.createRevision, item);
  return (
    item.revision >= minModRevision &&
    (maxModRevision === 0 || item.revision <= maxModRevision) &&
    created >= minCreateRevision &&
    (maxCreateRevision === 0 || created <= maxCreateRevision)
  );
}

function sorted(items: Stored[], { sortTarget, isDescending }: RangeRequest): Stored[] {
  if (sortTarget === SortTarget.key) return isDescending ? items.toReversed() : items;
  const compare = (a: Stored, b: Stored): number => {
    if (sortTarget === SortTarget.value) return Buffer.compare(a.value, b.value);
    if (sortTarget === SortTarget.version) return (a.version ?? 1) - (b.version ?? 1);
    if (sortTarget === SortTarget.create) return actualOf(CompareTarget.createRevision, a) - actualOf(CompareTarget.createRevision, b);
    return sortTarget === SortTarget.mod ? a.revision - b.revision : 0;
  };
  // Items come in the order of their keys, which sorting keeps among equals.
  return items.toSorted(isDescending ? (a, b) => compare(b, a) : compare);
}
