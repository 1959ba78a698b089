import type { ApiObject } from '../../api/api-object.ts';
import type { PluginEnvironment } from '../plugin.ts';

export interface KindManifests<T extends ApiObject> {
  /** In the order of their names. */
  list(): readonly T[];
  onChange(listener: () => void): void;
}

/** The manifests of one kind in the folder of a plug-in; undefined where its configuration names none. */
export function manifestsOf<T extends ApiObject>({ options }: PluginEnvironment, plugin: string, kind: string): KindManifests<T> | undefined {
  const manifests = options.configurations?.manifests?.get(plugin);
  return manifests && { list: () => manifests.list<T>(kind), onChange: (listener) => manifests.onChange(listener) };
}
