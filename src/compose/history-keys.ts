import { storedObject, storedResource } from '../apis/stored-resources.ts';
import type { ChangeKeeping } from '../storage/engine.ts';
import type { CompletedOptions } from '../options/completion.ts';

/** Which changes of a store become history. */
export interface HistoryKeeping extends ChangeKeeping {
  /** Provided once the history is open: until then, what was before is kept with every change. */
  needsPrevious: (key: string) => boolean;
}

/** Undefined where none is kept. */
export function historyKeeping({ historyBounds, historyExclude, etcdPrefix }: CompletedOptions): HistoryKeeping | undefined {
  if (!historyBounds) return undefined;
  const excluded = new Set(historyExclude.map((name) => name.toLowerCase()));
  const prefix = `${etcdPrefix}/`;
  const keeping: HistoryKeeping = {
    keeps: recordedKeys(prefix, excluded),
    keepsPrevious: (key) => keeping.needsPrevious(key),
    needsPrevious: () => true,
  };
  return keeping;
}

/** As many folders as there are resources, twice. */
const MAX_FOLDERS = 10_000;

/** Whether objects of a resource that is not left out are at a key, or below a folder of keys. By folder it is looked up only once. */
export function recordedKeys(prefix: string, excluded: ReadonlySet<string>): (key: string) => boolean {
  const known = new Map<string, boolean>();
  const isRecorded = (folder: string): boolean => {
    const { group, resource } = storedResource(folder);
    return storedObject(`${folder}/x`) !== undefined && !excluded.has(group === '' ? resource : `${resource}.${group}`);
  };
  return (key) => {
    if (!key.startsWith(prefix)) return false;
    const folder = folderOf(key, prefix.length);
    let recorded = known.get(folder);
    if (recorded === undefined) {
      if (known.size >= MAX_FOLDERS) known.clear();
      known.set(folder, (recorded = isRecorded(folder)));
    }
    return recorded;
  };
}

/** `pods` of `/registry/pods/default/web`; `services/specs`, and `example.com/widgets`, where the first part is not all. */
function folderOf(key: string, start: number): string {
  const end = key.indexOf('/', start);
  const first = end < 0 ? key.slice(start) : key.slice(start, end);
  if (end < 0 || !(first.includes('.') || first === 'services')) return first;
  const next = key.indexOf('/', end + 1);
  return next < 0 ? key.slice(start) : key.slice(start, next);
}
