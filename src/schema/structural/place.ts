/** Where in a value a walk is: `spec.list[0]`. Put into words only where there is something to tell. */
export class ValuePlace {
  readonly #steps: (string | number)[] = [];
  #text: string | undefined;

  /** A key or an index. At the top, `.key` for a key whose path upstream begins with a dot. */
  enter(step: string | number): void {
    this.#steps.push(step);
    this.#text = undefined;
  }

  leave(): void {
    this.#steps.pop();
    this.#text = undefined;
  }

  get isTop(): boolean {
    return this.#steps.length === 0;
  }

  /** Made once for all faults at the place: hundreds of alternatives may each find one. */
  toString(): string {
    return (this.#text ??= this.#put());
  }

  #put(): string {
    let path = '';
    for (const step of this.#steps) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`;
    return path;
  }
}
