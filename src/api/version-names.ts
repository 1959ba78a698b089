const STAGES = ['alpha', 'beta', ''];

/** As Array.sort wants it: `v2` after `v1`, `v1` after `v1beta2`, beta after alpha, and names of no such form first, in reverse (apimachinery/pkg/version). */
export function compareVersionNames(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [parse(a), parse(b)];
  if (left === undefined && right === undefined) return a < b ? 1 : -1;
  if (left === undefined) return -1;
  if (right === undefined) return 1;
  const index = left.findIndex((part, at) => part !== right[at]);
  return index < 0 ? 0 : left[index]! - right[index]!;
}

function parse(name: string): number[] | undefined {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(name);
  return match ? [STAGES.indexOf(match[2] ?? ''), Number(match[1]), Number(match[3] ?? 0)] : undefined;
}
