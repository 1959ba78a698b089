import { type ApiFeature, isFeatureOn } from './features.ts';

/** Fields that are there for one feature: `spec.devices.*.taints`, where `*` is every item of a list or value of a map. */
export type GatedFields = readonly (readonly [feature: ApiFeature, paths: readonly string[]])[];

/**
 * Takes out what clients send for features that are off, unless the object has some of it already: an update must not lose what was let in before
 * (the dropDisabledFields of upstream's strategies). What fields were in is left empty, as upstream does.
 */
export function dropGatedFields(gated: GatedFields, object: object, old: object | undefined): void {
  for (const [feature, paths] of gated) {
    if (isFeatureOn(feature) || paths.some((path) => old && holders(old, path).some(([holder, field]) => isUsed(holder[field])))) continue;
    for (const path of paths) for (const [holder, field] of holders(object, path)) delete holder[field];
  }
}

const isUsed = (value: unknown): boolean => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

type Holder = Record<string, unknown>;

/** What may have the path's last field, and that field. */
function holders(root: object, path: string): [Holder, string][] {
  const steps = path.split('.');
  const field = steps.pop()!;
  let found: unknown[] = [root];
  for (const step of steps) found = found.flatMap((value) => (step === '*' ? Object.values(value as Holder) : [(value as Holder)[step]])).filter(isObject);
  return found.map((value) => [value as Holder, field]);
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
