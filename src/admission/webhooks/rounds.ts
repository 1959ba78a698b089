import type { AdmissionAttributes } from '../../registry/admission.ts';
import { stringifyJson } from '../../encoding/json.ts';
import type { Webhook } from './configuration.ts';

/** What of a write's first round of webhooks counts in the second. */
interface Memory {
  /** Those that want to be asked again, and were asked before anything changed. */
  asked: Set<string>;
  /** Those that something has changed for since. */
  again: Set<string>;
  /** The object as the webhooks left it. */
  output: string;
}

/** Which webhooks a write is shown to a second time (mutating/reinvocationcontext.go): those that ask for it, where the object changed after them. */
export class Rounds {
  readonly #memories = new WeakMap<AdmissionAttributes, Memory>();

  begin(attributes: AdmissionAttributes): Round {
    let memory = this.#memories.get(attributes);
    if (!memory) this.#memories.set(attributes, (memory = { asked: new Set(), again: new Set(), output: '' }));
    return new Round(attributes, memory);
  }
}

class Round {
  readonly number: 0 | 1;
  readonly #attributes: AdmissionAttributes;
  readonly #memory: Memory;

  constructor(attributes: AdmissionAttributes, memory: Memory) {
    this.#attributes = attributes;
    this.#memory = memory;
    this.number = attributes.reinvocation === 'running' ? 1 : 0;
    if (this.number === 1 && memory.asked.size > 0 && memory.output !== textOf(attributes)) this.#askAgain();
  }

  /** A webhook that the first round passed over stays so. */
  asks({ id }: Webhook): boolean {
    return this.number === 0 || this.#memory.again.has(id);
  }

  wasAsked({ id, spec }: Webhook, hasChanged: boolean): void {
    if (hasChanged) {
      this.#askAgain();
      if (this.number === 0) this.#attributes.reinvocation = 'requested';
    }
    if (spec.reinvocationPolicy === 'IfNeeded') this.#memory.asked.add(id);
  }

  end(): void {
    if (this.#memory.asked.size > 0) this.#memory.output = textOf(this.#attributes);
  }

  #askAgain(): void {
    for (const id of this.#memory.asked) this.#memory.again.add(id);
    this.#memory.asked.clear();
  }
}

const textOf = ({ object }: AdmissionAttributes): string => stringifyJson(object ?? null);
