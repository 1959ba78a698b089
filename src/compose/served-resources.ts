import type { PluginEnvironment } from '../admission/plugin.ts';
import type { IsServed } from '../apis/api-versions.ts';
import { groupVersions } from '../apis/facts/resources.ts';
import { hasKind, schemaOfKind } from '../apis/facts/schemas.ts';
import type { RequestInfo } from '../endpoints/request.ts';
import type { EndpointEnvironment } from '../endpoints/target.ts';
import { BINARY_RELEASE, compareReleases } from '../options/effective-version.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { GenericServer } from '../server/generic-server.ts';
import { type EmulationOptions, emulatedVersions } from './emulated-resources.ts';

/** What is served of the kinds that there are: --runtime-config, and where an older version is emulated, what that one has. */
export function servedVersions(options: EmulationOptions, definitions: () => readonly ResourceDefinition[]): IsServed {
  const isOn = enabledVersions(options.runtimeConfig);
  return compareReleases(options.effectiveVersion.emulation, BINARY_RELEASE) === 0 ? isOn : emulatedVersions(options, isOn, definitions());
}

/** --runtime-config: the most particular key wins (apiserver/pkg/server/resourceconfig). The two servers at the ends serve their own group always. */
function enabledVersions(config: ReadonlyMap<string, boolean>): IsServed {
  return ({ group, groupVersion, stability, isOnByDefault }, plural) => {
    if (group === 'apiextensions.k8s.io' || group === 'apiregistration.k8s.io') return true;
    const key = group === '' ? `/${groupVersion}` : groupVersion;
    return (
      config.get(`${key}/${plural}`) ??
      config.get(key) ??
      config.get(`api/${stability === 'stable' ? 'ga' : stability}`) ??
      config.get('api/all') ??
      isOnByDefault
    );
  };
}

/** The same by name. What is not built in is served where it is defined. */
export const isServedByName =
  (isServed: IsServed): PluginEnvironment['isServed'] =>
  (group, version, plural) => {
    const facts = groupVersions.find((candidate) => candidate.group === group && candidate.version === version);
    return !facts || isServed(facts, plural);
  };

/** Whether a request's resource is one that is served: only such names become labels of metrics. */
export const isInstalled = (servers: readonly GenericServer[], info: RequestInfo): boolean => servers.some((server) => server.hasResource(info));

/** The plural of a kind that one of the servers has installed. */
export function installedResource(servers: readonly GenericServer[], group: string, version: string, kind: string): string | undefined {
  const installed = servers.flatMap((server) => server.versions).find((candidate) => candidate.group === group && candidate.version === version);
  return [...(installed?.resources.values() ?? [])].find(({ served }) => served.kind === kind)?.definition.plural;
}

/** The schema of a built-in kind; undefined where there is none. */
export const knownSchema: EndpointEnvironment['schemaOfKind'] = (group, version, kind) =>
  hasKind(group, version, kind) ? schemaOfKind(group, version, kind) : undefined;
