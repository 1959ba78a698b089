/**
 * One value that a later phase of the composition provides, for parts that are made before it and read it when requests come. Where two parts know each other
 * (stores ask authorization, which reads stores), one of them gets this in place of the other. To read it too early is a fault in the order of the phases, and
 * throws.
 */
export class Provided<T> {
  readonly #name: string;
  #value: T | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  provide(value: T): void {
    if (this.#value !== undefined) throw new Error(`the ${this.#name} is provided already`);
    this.#value = value;
  }

  get isProvided(): boolean {
    return this.#value !== undefined;
  }

  get value(): T {
    if (this.#value === undefined) throw new Error(`the ${this.#name} is not provided yet`);
    return this.#value;
  }
}
