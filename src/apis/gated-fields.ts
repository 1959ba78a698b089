import type { KindSettings } from '../registry/write.ts';
import { type ApiFeature, isFeatureOn } from './features.ts';

/** Fields that are there for one feature: `spec.devices.*.taints`, where `*` is every item of a list or value of a map. */
export type GatedFields = readonly (readonly [feature: ApiFeature, paths: readonly string[]])[];

/**
 * Takes out what clients send for features that are off, unless the object has some of it already: an update must not lose what was let in before
 * (the dropDisabledFields of upstream's strategies). What fields were in is left empty, as upstream does.
 */
export function dropGatedFields(gated: GatedFields, object: object, old: object | undefined, settings: KindSettings): void {
  for (const [feature, paths] of gated) {
    if (isFeatureOn(settings, feature) || (old && paths.some((path) => someHolder(old, stepsOf(path), 0, isUsed)))) continue;
    for (const path of paths) someHolder(object, stepsOf(path), 0, drop);
  }
}

const drop = (holder: Holder, field: string): false => {
  if (field in holder) delete holder[field];
  return false;
};

function isUsed(holder: Holder, field: string): boolean {
  const value = holder[field];
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

type Holder = Record<string, unknown>;

/** Whether `ask` says yes of any that may have the path's last field; no further one is asked then. Pods come here with every write: nothing is made on the way. */
function someHolder(value: unknown, steps: readonly string[], at: number, ask: (holder: Holder, field: string) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const step = steps[at]!;
  if (at === steps.length - 1) return ask(value as Holder, step);
  if (step !== '*') return someHolder((value as Holder)[step], steps, at + 1, ask);
  // The indexes of a list as texts, which `for … in` gives, take ten times as long as its items.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (someHolder(value[index], steps, at + 1, ask)) return true;
    return false;
  }
  for (const key in value) if (someHolder((value as Holder)[key], steps, at + 1, ask)) return true;
  return false;
}

const steps = new Map<string, readonly string[]>();

/** There are as many as the tables of kinds have paths. */
function stepsOf(path: string): readonly string[] {
  let found = steps.get(path);
  if (found === undefined) steps.set(path, (found = path.split('.')));
  return found;
}
