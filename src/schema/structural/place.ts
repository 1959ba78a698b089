/** Where in a value a walk is: `spec.list[0]`. Put into words only where there is something to tell. */
export class Place {
  readonly #steps: (string | number)[] = [];

  /** A key or an index. At the top, `.key` for a key whose path upstream begins with a dot. */
  enter(step: string | number): void {
    this.#steps.push(step);
  }

  leave(): void {
    this.#steps.pop();
  }

  get isTop(): boolean {
    return this.#steps.length === 0;
  }

  toString(): string {
    let path = '';
    for (const step of this.#steps) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`;
    return path;
  }
}
