import type { Difference } from './differences.ts';
import { SCENARIO } from './placeholders.ts';
import type { Finding } from './run.ts';
import type { Scenario, Step } from './step.ts';

/** Differences that look the same: found once, told once. */
export interface Group {
  key: string;
  count: number;
  /** Where they were found: `POST /api/v1/namespaces/…/pods`. */
  places: Set<string>;
  /** The first of them. */
  scenario: Scenario;
  finding: Finding;
}

const MAX_GROUPS = 1000;
const MAX_PLACES = 8;
const SHAPE_CHARS = 120;

export class Groups {
  readonly #byKey = new Map<string, Group>();
  total = 0;

  /** Whether there was one of its shape. */
  has({ steps }: Scenario, { stepIndex, differences }: Finding): boolean {
    return this.#byKey.has(shapeOf(steps[stepIndex]!, differences));
  }

  add(scenario: Scenario, finding: Finding): void {
    const step = scenario.steps[finding.stepIndex]!;
    const key = shapeOf(step, finding.differences);
    this.total++;
    let group = this.#byKey.get(key);
    if (group === undefined) {
      if (this.#byKey.size >= MAX_GROUPS) return;
      group = { key, count: 0, places: new Set(), scenario, finding };
      this.#byKey.set(key, group);
    }
    group.count++;
    if (group.places.size < MAX_PLACES) group.places.add(`${step.request.method} ${patternOf(step.request.path)}`);
  }

  /** The most frequent first. */
  all(): Group[] {
    return [...this.#byKey.values()].sort((one, other) => other.count - one.count);
  }
}

const patternOf = (path: string): string => path.split('?', 1)[0]!.replaceAll(new RegExp(`${SCENARIO}[-\\w]*`, 'g'), '*');

/** What makes two findings the same: the method, the places, and what was said there without its names and numbers. */
export function shapeOf({ request, isWatch }: Step, differences: readonly Difference[]): string {
  const shapes = differences
    .slice(0, 3)
    .map(({ at, reference, server }) => `${at.replaceAll(/\[[^\]]*\]/g, '[]')}: ${shapeOfText(reference)} ≠ ${shapeOfText(server)}`);
  return `${isWatch ? 'WATCH' : request.method} ${[...new Set(shapes)].join('; ')}`;
}

const shapeOfText = (text: string): string =>
  text
    .replaceAll(/\\"(?:[^"\\]|\\\\.)*\\"/g, '_')
    .replaceAll(/\[\d+\]/g, '[]')
    .replaceAll(/\d+/g, '0')
    .slice(0, SHAPE_CHARS);
