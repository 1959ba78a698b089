/**
 * Lists of names made into one in which each name comes behind those that it stands behind in any of them; names that no list sets in order are sorted.
 * Where one list has all names, it is the answer; where lists contradict each other, all names are sorted (apimachinery/pkg/util/sort,
 * MergePreservingRelativeOrder).
 */
export function mergeOrder(lists: readonly (readonly string[])[]): readonly string[] {
  const nodes = new Map<string, { after: Set<string>; waitsFor: number }>();
  for (const list of lists) for (const name of list) if (!nodes.has(name)) nodes.set(name, { after: new Set(), waitsFor: 0 });
  const complete = lists.find((list) => list.length === nodes.size && new Set(list).size === list.length);
  if (complete) return complete;
  for (const list of lists) {
    for (const [index, name] of list.slice(1).entries()) {
      const { after } = nodes.get(list[index]!)!;
      if (after.has(name)) continue;
      after.add(name);
      nodes.get(name)!.waitsFor++;
    }
  }
  const sorted = [...nodes.keys()].toSorted();
  const ready = sorted.filter((name) => nodes.get(name)!.waitsFor === 0);
  const merged: string[] = [];
  while (ready.length > 0) {
    const name = ready.shift()!;
    merged.push(name);
    for (const next of nodes.get(name)!.after) if (--nodes.get(next)!.waitsFor === 0) insertSorted(ready, next);
  }
  return merged.length === nodes.size ? merged : sorted;
}

function insertSorted(names: string[], name: string): void {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (names[middle]! < name) low = middle + 1;
    else high = middle;
  }
  names.splice(low, 0, name);
}
