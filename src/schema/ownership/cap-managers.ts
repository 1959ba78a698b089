import { union } from './field-set.ts';
import { type Manager, type ManagersDraft, identityOf } from './managers.ts';
import { compareText } from './path-element.ts';

const MAX_UPDATERS = 10;
const OLD_UPDATES = 'ancient-changes';

/** Keeps the number of updaters within bounds: the oldest of a version become one (managedfields/internal/capmanagers.go). Changes what it is given. */
export function capUpdaters(managers: ManagersDraft): void {
  if (managers.size <= MAX_UPDATERS) return;
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= MAX_UPDATERS) return;
  updaters.sort(([idA, a], [idB, b]) => compareText(a.time ?? '', b.time ?? '') || compareText(idA, idB));
  let count = updaters.length;
  const firstOf = new Map<string, string>();
  for (const [identity, manager] of updaters) {
    if (count <= MAX_UPDATERS) return;
    const first = firstOf.get(manager.apiVersion);
    if (first === undefined) firstOf.set(manager.apiVersion, identity);
    else {
      intoBucket(managers, first, identity, manager);
      count--;
    }
  }
}

/** The bucket has the time of the newest that went into it. */
function intoBucket(managers: ManagersDraft, first: string, identity: string, manager: Manager): void {
  const bucket: Omit<Manager, 'fields'> = { name: OLD_UPDATES, operation: 'Update', subresource: '', apiVersion: manager.apiVersion, time: manager.time };
  const bucketIdentity = identityOf(bucket);
  const before = managers.get(bucketIdentity) ?? managers.get(first)!;
  if (!managers.has(bucketIdentity)) managers.delete(first);
  managers.delete(identity);
  managers.set(bucketIdentity, { ...bucket, fields: union(manager.fields, before.fields) });
}
