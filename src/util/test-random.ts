import { SeededRandom } from './seeded-random.ts';

/** For tests: what a test found once it finds again. */
export class Random extends SeededRandom {
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }
  chance(probability: number): boolean {
    return this.next() < probability;
  }
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }
}
