/** The highest of a number within the last whole second: a gauge of something that changes too fast to be read. */
export class Watermark {
  readonly #nowMs: () => number;
  #second = 0;
  #current = 0;
  #previous = 0;
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  record(value: number): void {
    this.#turn();
    if (value > this.#current) this.#current = value;
  }

  read(): number {
    this.#turn();
    return this.#previous;
  }

  #turn(): void {
    const second = Math.floor(this.#nowMs() / 1000);
    if (second === this.#second) return;
    this.#previous = second === this.#second + 1 ? this.#current : 0;
    this.#current = 0;
    this.#second = second;
  }
}
