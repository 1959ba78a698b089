import type { ResourceDefinition, ServedVersion, Subresource, UpdateRules } from '../registry/definition.ts';
import { type KindSettings, withinSettings } from './features.ts';
import { copyWith } from './define.ts';

const UPDATE_HOOKS = ['prepareForUpdate', 'validateUpdate', 'warnings'] as const satisfies readonly (keyof UpdateRules)[];
const KIND_HOOKS = [
  'nameErrors',
  'prepareForCreate',
  'validate',
  'judgesEmptied',
  'mayDelete',
  'markDeleting',
  ...UPDATE_HOOKS,
] as const satisfies readonly (keyof ResourceDefinition)[];
const VERSION_HOOKS = ['default', 'toStored', 'fromStored'] as const satisfies readonly (keyof ServedVersion)[];
const SUBRESOURCE_HOOKS = ['read', 'write'] as const satisfies readonly (keyof Subresource)[];

/** The definition as one server has it: what its hooks ask of features and flags is answered as that server is set. The one given stays as it is. */
export function withSettings(definition: ResourceDefinition, settings: KindSettings): ResourceDefinition {
  const subresources = Object.entries(definition.subresources ?? {}).map(([name, subresource]): [string, Subresource] => [
    name,
    copyWith(subresource, {
      ...bound(subresource, SUBRESOURCE_HOOKS, settings),
      ...(subresource.update && { update: { ...subresource.update, ...bound(subresource.update, UPDATE_HOOKS, settings) } }),
    }),
  ]);
  return copyWith(definition, {
    ...bound(definition, KIND_HOOKS, settings),
    served: definition.served.map((served) => copyWith(served, bound(served, VERSION_HOOKS, settings))),
    ...(definition.subresources && { subresources: Object.fromEntries(subresources) }),
  });
}

type Hook = (...args: unknown[]) => unknown;

/** The named functions of a value, each run as the server is set. Their work must end in the turn in which they are called. */
export function bound<V extends object>(value: V, names: readonly (keyof V)[], settings: KindSettings): Partial<V> {
  const hooks: Partial<Record<keyof V, Hook>> = {};
  for (const name of names) {
    const hook = value[name] as Hook | undefined;
    if (hook) hooks[name] = (...args) => withinSettings(settings, () => hook.apply(value, args));
  }
  return hooks as Partial<V>;
}
