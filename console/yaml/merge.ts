/** One change on the way from one object to another. */
export interface FieldChange {
  path: readonly string[];
  from: unknown;
  to: unknown;
}

export interface MergeResult {
  merged: unknown;
  /** Fields that both sides changed, each in its own way; ours is taken. */
  conflicts: FieldChange[];
}

type Json = Record<string, unknown>;

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
export const isSame = (a: unknown, b: unknown): boolean => a === b || canonical(a) === canonical(b);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (isMap(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner)) ?? '';

/** What I changed of `base`, made to what it has become since. Lists count as one value. */
export function mergeThreeWay(base: unknown, mine: unknown, theirs: unknown): MergeResult {
  const conflicts: FieldChange[] = [];
  return { merged: merge(base, mine, theirs, [], conflicts), conflicts };
}

function merge(base: unknown, mine: unknown, theirs: unknown, path: readonly string[], conflicts: FieldChange[]): unknown {
  if (isSame(mine, theirs) || isSame(base, theirs)) return mine;
  if (isSame(base, mine)) return theirs;
  if (isMap(mine) && isMap(theirs)) {
    const old = isMap(base) ? base : {};
    const names = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
    const entries = [...names].map((name) => [name, merge(old[name], mine[name], theirs[name], [...path, name], conflicts)] as const);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  }
  conflicts.push({ path, from: theirs, to: mine });
  return mine;
}

/** Leaf by leaf what differs; lists count as one value. */
export function changesBetween(before: unknown, after: unknown, path: readonly string[] = []): FieldChange[] {
  if (isSame(before, after)) return [];
  if (!isMap(before) || !isMap(after)) return [{ path, from: before, to: after }];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => changesBetween(before[name], after[name], [...path, name]));
}
