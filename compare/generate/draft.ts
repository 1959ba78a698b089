import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';
import type { Request, Step, User } from '../step.ts';

/** A scenario while it is made up. */
export class Draft {
  readonly random: Random;
  readonly steps: Step[] = [];

  constructor(random: Random) {
    this.random = random;
  }

  add(request: Request, more: Omit<Step, 'request'> = {}): void {
    this.steps.push({ request, ...more });
  }

  /** With one of the alternatives, each as likely as its weight says. */
  choose(alternatives: readonly (readonly [weight: number, act: () => void])[]): void {
    let at = this.random.next() * alternatives.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, act] of alternatives) {
      at -= weight;
      if (at < 0) return act();
    }
  }

  get(path: string, accept?: string, user?: User): void {
    this.add({ method: 'GET', path, ...(accept !== undefined && { headers: { accept } }), ...(user !== undefined && { user }) });
  }

  post(path: string, body: Json): void {
    this.add({ method: 'POST', path, body });
  }
}

/** `path?a=b&c=d`; parameters that are undefined are left out. */
export function withQuery(path: string, parameters: Record<string, string | undefined>): string {
  const query = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeValue(value)}`]));
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

/** Placeholders stay readable. */
const encodeValue = (value: string): string => (value.includes('«') ? value : encodeURIComponent(value));

/** The value with this probability, else nothing. */
export const maybe = <T>(random: Random, probability: number, value: T): T | undefined => (random.chance(probability) ? value : undefined);

export const metadataOf = (object: JsonObject): JsonObject => object['metadata'] as JsonObject;
