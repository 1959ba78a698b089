import { difference, hasPath, isEmpty, setOf } from './field-set.ts';
import { type Manager, type Managers, type ManagersDraft, identityOf } from './managers.ts';
import { type PathElement, fieldElement } from './path-element.ts';

/** Where a scale has its replicas, and in which version it is. */
const REPLICAS_IN_SCALE = ['spec', 'replicas'].map(fieldElement);
const SCALE_VERSION = 'autoscaling/v1';

/** Where an object of each version has them; `undefined` for a version that has none. */
export type ReplicasPaths = ReadonlyMap<string, readonly PathElement[] | undefined>;

/** The owners of a scale: those of the object's replicas (managedfields/scalehandler.go). */
export function scaleManagers(parent: Managers, paths: ReplicasPaths): Managers {
  const managers: ManagersDraft = new Map();
  for (const manager of parent.values()) {
    const path = paths.get(manager.apiVersion);
    if (path === undefined || !hasPath(manager.fields, path)) continue;
    const inScale: Manager = { ...manager, apiVersion: SCALE_VERSION, fields: setOf(REPLICAS_IN_SCALE) };
    managers.set(identityOf(inScale), inScale);
  }
  return managers;
}

/**
 * The owners of the object, once its scale has the given ones. Who still owns the scale keeps what it had; who came to own it gets the replicas, without
 * a time; all others lose them. `apiVersion` is the object's in the request.
 */
export function parentManagers(parent: Managers, scale: Managers, paths: ReplicasPaths, apiVersion: string): Managers {
  const managers: ManagersDraft = new Map();
  const taking = new Map(scale);
  for (const [identity, manager] of parent) {
    if (!paths.has(manager.apiVersion)) continue;
    const path = paths.get(manager.apiVersion);
    const isOwner = path !== undefined && hasPath(manager.fields, path);
    if (!isOwner || taking.delete(identity)) managers.set(identity, manager);
    else {
      const fields = difference(manager.fields, setOf(path));
      if (!isEmpty(fields)) managers.set(identity, { ...manager, fields });
    }
  }
  for (const [identity, manager] of taking) {
    if (!hasPath(manager.fields, REPLICAS_IN_SCALE)) continue;
    managers.set(identity, { ...manager, apiVersion, fields: setOf(paths.get(apiVersion)!), time: parent.get(identity)?.time });
  }
  return managers;
}
