import type { MonotonicClock } from '../util/clock.ts';
import type { UnsentClaim, UnsentHolder, UnsentLedger } from '../net/unsent-answers.ts';

export interface UnsentLimits {
  /** An answer whose client takes next to nothing for so long is given up. Long-running ones are not. */
  unreadTimeoutMs: number;
  /** Over all connections of one user; beyond it, answers of which nothing was taken for a second are given up. */
  unsentBytesPerUser: number;
  /** Over all connections of the server; beyond it, answers are given up at once. */
  unsentBytesInAll: number;
}

/** How often waiting answers are looked at, and how long one may take nothing while its user holds too much. */
const SWEEP_MS = 1000;
/** Less than this within the timeout counts as nothing: a client that takes a byte now and then would hold its answers for ever. */
const MIN_TAKEN_BYTES = 16 * 1024;
/** What is given up at once goes down to this part of the limit, so that the order is not looked for again with every byte. */
const RELIEVED = 7 / 8;

/**
 * The bytes of answers that wait for their clients, over all connections. Only answers that have to wait are entered, so that those which leave at once cost
 * nothing here.
 */
export class UnsentAnswers implements UnsentLedger {
  /** Of all that wait. */
  totalBytes = 0;
  readonly #limits: UnsentLimits;
  readonly #clock: MonotonicClock;
  readonly #claims = new Set<Claim>();
  readonly #users = new Map<string, UserAccount>();
  #isSweepComing = false;

  constructor(limits: UnsentLimits, clock: MonotonicClock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** The number of answers and connections that wait. */
  get size(): number {
    return this.#claims.size;
  }

  open(holder: UnsentHolder): UnsentClaim {
    const claim = new Claim(this, holder, this.#accountOf(holder.userName), this.#clock.nowMs());
    this.#claims.add(claim);
    claim.account.claims++;
    this.#sweepLater();
    return claim;
  }

  /** Called by claims. */
  changed(claim: Claim, sizeBytes: number): void {
    if (!this.#claims.has(claim)) return;
    const change = sizeBytes - claim.sizeBytes;
    claim.sizeBytes = sizeBytes;
    claim.account.sizeBytes += change;
    this.totalBytes += change;
    if (change > 0 && this.totalBytes > this.#limits.unsentBytesInAll) this.#relieve();
  }

  /** Called by claims. */
  closed(claim: Claim): void {
    this.changed(claim, 0);
    if (!this.#claims.delete(claim)) return;
    if (--claim.account.claims === 0) this.#users.delete(claim.account.name);
  }

  #accountOf(name: string): UserAccount {
    let account = this.#users.get(name);
    if (!account) this.#users.set(name, (account = { name, sizeBytes: 0, claims: 0 }));
    return account;
  }

  /** The timer runs only while somebody waits. */
  #sweepLater(): void {
    if (this.#isSweepComing) return;
    this.#isSweepComing = true;
    this.#clock.after(SWEEP_MS, () => {
      this.#isSweepComing = false;
      this.#sweep();
      if (this.#claims.size > 0) this.#sweepLater();
    });
  }

  #sweep(): void {
    const nowMs = this.#clock.nowMs();
    const idle: Claim[] = [];
    for (const claim of this.#claims) {
      claim.look(nowMs);
      if (!claim.holder.isLongRunning && nowMs - claim.lastTakenMs >= this.#limits.unreadTimeoutMs) {
        this.#giveUp(claim, 'the client does not read its answer');
      } else if (!claim.hasTaken && claim.account.name !== '' && claim.account.sizeBytes > this.#limits.unsentBytesPerUser) idle.push(claim);
    }
    for (const claim of idle.toSorted(byOffence)) {
      if (claim.account.sizeBytes > this.#limits.unsentBytesPerUser) this.#giveUp(claim, 'too many answers that their user does not read');
    }
  }

  /** The user who holds the most is the first to lose, and of its answers the one that has waited for longest. */
  #relieve(): void {
    const targetBytes = this.#limits.unsentBytesInAll * RELIEVED;
    for (const claim of [...this.#claims].toSorted(byOffence)) {
      if (this.totalBytes <= targetBytes) return;
      this.#giveUp(claim, 'too many answers that nobody reads');
    }
  }

  #giveUp(claim: Claim, message: string): void {
    this.closed(claim);
    claim.holder.cutOff(message);
  }
}

interface UserAccount {
  readonly name: string;
  sizeBytes: number;
  /** How many claims count here; with the last one, the account is forgotten. */
  claims: number;
}

class Claim implements UnsentClaim {
  sizeBytes = 0;
  lastTakenMs: number;
  /** Something was taken between the last two looks. */
  hasTaken = true;
  readonly holder: UnsentHolder;
  readonly account: UserAccount;
  readonly #ledger: UnsentAnswers;
  #countedBytes: number;
  #lookedAtBytes: number;

  constructor(ledger: UnsentAnswers, holder: UnsentHolder, account: UserAccount, nowMs: number) {
    this.#ledger = ledger;
    this.holder = holder;
    this.account = account;
    this.lastTakenMs = nowMs;
    this.#countedBytes = this.#lookedAtBytes = holder.takenBytes();
  }

  set(sizeBytes: number): void {
    this.#ledger.changed(this, sizeBytes);
  }

  close(): void {
    this.#ledger.closed(this);
  }

  look(nowMs: number): void {
    const takenBytes = this.holder.takenBytes();
    this.hasTaken = takenBytes !== this.#lookedAtBytes;
    this.#lookedAtBytes = takenBytes;
    if (takenBytes - this.#countedBytes < MIN_TAKEN_BYTES) return;
    this.#countedBytes = takenBytes;
    this.lastTakenMs = nowMs;
  }
}

const byOffence = (a: Claim, b: Claim): number => b.account.sizeBytes - a.account.sizeBytes || a.lastTakenMs - b.lastTakenMs || b.sizeBytes - a.sizeBytes;
