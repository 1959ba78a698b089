/**
 * A place for one value that a later phase of the composition provides, for parts that are made before it and ask for it when requests come. Where two parts
 * know each other (stores pass writes through admission, whose plug-ins read stores), one of them gets a port. Reading it too early is a fault in the order of
 * the phases, and throws.
 */
export class Port<T> {
  readonly #name: string;
  #value: T | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  provide(value: T): void {
    if (this.#value !== undefined) throw new Error(`the ${this.#name} is provided already`);
    this.#value = value;
  }

  get value(): T {
    if (this.#value === undefined) throw new Error(`the ${this.#name} is not provided yet`);
    return this.#value;
  }
}
