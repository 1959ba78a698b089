import { TestClock } from '../util/test-clock.ts';
import type { FlowClock } from './clock.ts';

/** For tests: time stands still until it is told to pass, and so does the event loop. */
export class FakeFlowClock extends TestClock implements FlowClock {
  #turns: (() => void)[] = [];

  nextTurn(callback: () => void): void {
    this.#turns.push(callback);
  }

  /** The event loop goes round once. */
  turn(): void {
    for (const callback of this.#turns.splice(0)) callback();
  }

  /** Fires what falls due, in order, and begins the turns that are asked for. */
  override pass(durationMs: number): void {
    this.turn();
    super.pass(durationMs);
  }

  protected override afterTimer(): void {
    this.turn();
  }
}
