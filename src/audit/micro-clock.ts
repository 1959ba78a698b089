/** Beyond this the wall clock was set, and is followed; less may be what Date.now() rounds off. */
const MAX_DRIFT_MS = 2;
const CHECK_INTERVAL_MS = 1000;

/** Turns moments of performance.now() into meta/v1 MicroTime. Date alone has no microseconds. */
export class MicroClock {
  #offsetMs = performance.timeOrigin;
  #checkedAtMs = -Infinity;
  #second = NaN;
  #secondText = '';

  format(monotonicMs: number): string {
    this.#followWallClock();
    const micros = Math.round((this.#offsetMs + monotonicMs) * 1000);
    const second = Math.floor(micros / 1e6);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = new Date(second * 1000).toISOString().slice(0, 19);
    }
    return `${this.#secondText}.${String(micros - second * 1e6).padStart(6, '0')}Z`;
  }

  #followWallClock(): void {
    const nowMs = performance.now();
    if (nowMs - this.#checkedAtMs < CHECK_INTERVAL_MS) return;
    this.#checkedAtMs = nowMs;
    const offsetMs = Date.now() - nowMs;
    if (Math.abs(offsetMs - this.#offsetMs) > MAX_DRIFT_MS) this.#offsetMs = offsetMs;
  }
}
