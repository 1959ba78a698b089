/** What one period of a changing number amounted to. */
export interface DemandPeriod {
  durationSeconds: number;
  highest: number;
  average: number;
  deviation: number;
}

/** Integrates a number over time: its mean, deviation and highest value (apiserver/pkg/util/flowcontrol/fairqueuing/integrator.go). */
export class DemandIntegrator {
  #value = 0;
  #lastMs: number;
  #highest = 0;
  #seconds = 0;
  #integral = 0;
  #squareIntegral = 0;

  constructor(nowMs: number) {
    this.#lastMs = nowMs;
  }

  set(value: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#value = value;
    if (value > this.#highest) this.#highest = value;
  }

  /** Ends the period and begins the next. */
  take(nowMs: number): DemandPeriod {
    this.#advance(nowMs);
    const average = this.#integral / this.#seconds;
    const variance = this.#squareIntegral / this.#seconds - average * average;
    const period = { durationSeconds: this.#seconds, highest: this.#highest, average, deviation: Math.sqrt(Math.max(0, variance)) };
    this.#seconds = this.#integral = this.#squareIntegral = 0;
    this.#highest = this.#value;
    return period;
  }

  #advance(nowMs: number): void {
    const seconds = (nowMs - this.#lastMs) / 1000;
    this.#lastMs = nowMs;
    this.#seconds += seconds;
    this.#integral += this.#value * seconds;
    this.#squareIntegral += this.#value * this.#value * seconds;
  }
}

/** How slowly a level's demand is forgotten, a period. */
const SMOOTHING = 0.977;

/** Seats that a level could have used, over the last period and smoothed over the ones before: rises at once, falls slowly (KEP-1040). */
export class SeatDemand {
  highest = 0;
  average = 0;
  deviation = 0;
  smoothed = 0;

  update({ durationSeconds, highest, average, deviation }: DemandPeriod): void {
    this.highest = Math.round(highest);
    if (durationSeconds <= 0) return;
    this.average = average;
    this.deviation = deviation;
    const envelope = average + deviation;
    this.smoothed = Math.max(envelope, SMOOTHING * this.smoothed + (1 - SMOOTHING) * envelope);
  }
}
