import type { Container, LimitRange, Pod, ResourceRequirements } from '../../apis/facts/types/core-v1.ts';
import type { SlicedWork } from '../../util/time-slice.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';

type Amounts = Readonly<Record<string, string>>;

/** Fills in what containers leave open, and notes in an annotation what was filled in. Answers whether anything was. */
export function* applyDefaults({ metadata, spec }: Pod, range: LimitRange): SlicedWork<boolean> {
  const items = (range.spec.limits ?? []).filter(({ type }) => type === 'Container');
  const requests: Amounts = Object.assign({}, ...items.map(({ defaultRequest }) => defaultRequest));
  const limits: Amounts = Object.assign({}, ...items.map((item) => item.default));
  const notes = yield* fillAll(spec.containers ?? [], 'container', requests, limits);
  notes.push(...(yield* fillAll(spec.initContainers ?? [], 'init container', requests, limits)));
  if (notes.length > 0) metadata.annotations = { ...metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}` };
  return notes.length > 0;
}

function* fillAll(containers: readonly Container[], what: string, requests: Amounts, limits: Amounts): SlicedWork<string[]> {
  const notes: string[] = [];
  for (const { name, resources } of containers) {
    const filled = [
      ['request', fill(resources, 'requests', requests)],
      ['limit', fill(resources, 'limits', limits)],
    ] as const;
    for (const [side, names] of filled) if (names.length > 0) notes.push(`${names.join(', ')} ${side} for ${what} ${name}`);
    yield;
  }
  return notes;
}

function fill(resources: ResourceRequirements, side: 'requests' | 'limits', defaults: Amounts): string[] {
  const given = resources[side] ?? {};
  const missing = Object.keys(defaults)
    .filter((name) => !Object.hasOwn(given, name))
    .toSorted();
  if (missing.length > 0) resources[side] = { ...defaults, ...given };
  return missing;
}
