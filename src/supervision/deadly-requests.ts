/** A request that has ended this many processes is refused from then on. */
const DEATHS_BEFORE_REFUSAL = 2;
/** The oldest are forgotten first: a bound for what attackers can make us remember. */
const MAX_REMEMBERED = 1_000;

/** Which requests the server was at work on when it died, and how often. */
export class DeadlyRequests {
  readonly #deaths = new Map<string, number>();

  /** Counts a death; answers how many there were by now. */
  add(fingerprint: string): number {
    const count = (this.#deaths.get(fingerprint) ?? 0) + 1;
    this.#deaths.delete(fingerprint);
    this.#deaths.set(fingerprint, count);
    if (this.#deaths.size > MAX_REMEMBERED) this.#deaths.delete(this.#deaths.keys().next().value!);
    return count;
  }

  /** Fingerprints of those that a server must not begin again. */
  get refused(): string[] {
    return [...this.#deaths].filter(([, count]) => count >= DEATHS_BEFORE_REFUSAL).map(([fingerprint]) => fingerprint);
  }
}
