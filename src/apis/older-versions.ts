import type { UpstreamForm } from '../registry/definition.ts';
import { type GroupVersionKind, apiVersionOf, parseApiVersion } from '../api/api-object.ts';
import { isJsonObject } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { hasKind, schemaOfKind } from './facts/schemas.ts';

/* Versions that nobody is served any more, and that clusters may still have in their store, written by releases long gone. */

type OlderVersion = NonNullable<UpstreamForm['older']>[number];

/** By group; those that a kind never had are left out. Releases before v1.16 kept some kinds in a group of its own, `extensions`. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration.k8s.io': ['v1beta1', 'v1alpha1'],
  apps: ['apps/v1beta2', 'apps/v1beta1', 'extensions/v1beta1'],
  batch: ['v1beta1'],
  'certificates.k8s.io': ['v1beta1'],
  'coordination.k8s.io': ['v1beta1'],
  'flowcontrol.apiserver.k8s.io': ['v1beta3', 'v1beta2', 'v1beta1'],
  'networking.k8s.io': ['networking.k8s.io/v1beta1', 'extensions/v1beta1'],
  'node.k8s.io': ['v1beta1'],
  policy: ['v1beta1'],
  'rbac.authorization.k8s.io': ['v1beta1'],
  'scheduling.k8s.io': ['v1beta1'],
  'storage.k8s.io': ['v1beta1', 'v1alpha1'],
};

/** Where more than the version's name differs: changes the fields to those of v1. All others have the same, or fields that are dropped. */
const CONVERSIONS: Readonly<Record<string, (spec: JsonObject) => void>> = {
  'v1beta1 Ingress': convertIngress,
  'v1beta1 PodDisruptionBudget': convertBudget,
  'v1beta2 PriorityLevelConfiguration': renameShares,
  'v1beta1 PriorityLevelConfiguration': renameShares,
};

/** The form with those added, when they are first asked for. */
export function withOlderVersions(own: GroupVersionKind, form: UpstreamForm = {}): UpstreamForm {
  return {
    ...form,
    get older() {
      return [...(form.older ?? []), ...olderVersions(own)];
    },
  };
}

function olderVersions(own: GroupVersionKind): OlderVersion[] {
  if (!Object.hasOwn(VERSIONS, own.group)) return [];
  return VERSIONS[own.group]!.map((name) => {
    const { group, version } = parseApiVersion(name)!;
    return { group: group || own.group, version, kind: own.kind };
  })
    .filter(({ group, version, kind }) => version !== own.version && hasKind(group, version, kind))
    .map(({ group, version, kind }) => ({
      group,
      version,
      kind,
      get schema() {
        return schemaOfKind(group, version, kind);
      },
      toStored(object) {
        const { spec } = object as unknown as JsonObject;
        if (isJsonObject(spec)) CONVERSIONS[`${version} ${kind}`]?.(spec);
        object.apiVersion = apiVersionOf(own.group, own.version);
        return object;
      },
    }));
}

/** pkg/apis/networking/v1beta1/conversion.go */
function convertIngress(spec: JsonObject): void {
  if (isJsonObject(spec['backend'])) spec['defaultBackend'] = convertedBackend(spec['backend']);
  delete spec['backend'];
  for (const rule of objectsIn(spec['rules'])) {
    const { http } = rule;
    for (const path of objectsIn(isJsonObject(http) ? http['paths'] : undefined)) {
      if (isJsonObject(path['backend'])) path['backend'] = convertedBackend(path['backend']);
    }
  }
}

function convertedBackend({ serviceName, servicePort, ...rest }: JsonObject): JsonObject {
  if (!serviceName && !servicePort) return rest;
  const port = typeof servicePort === 'string' ? { name: servicePort } : { number: servicePort ?? 0 };
  return { ...rest, service: { name: serviceName ?? '', port } };
}

/** pkg/apis/policy/v1beta1/conversion.go: there, an empty selector chose none; now it chooses all. */
function convertBudget(spec: JsonObject): void {
  const { selector } = spec;
  if (isJsonObject(selector) && Object.keys(selector).length === 0)
    spec['selector'] = { matchExpressions: [{ key: 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match', operator: 'Exists' }] };
}

/** pkg/apis/flowcontrol/v1beta2/conversion.go */
function renameShares(spec: JsonObject): void {
  const { limited } = spec;
  if (!isJsonObject(limited) || limited['assuredConcurrencyShares'] === undefined) return;
  limited['nominalConcurrencyShares'] = limited['assuredConcurrencyShares'];
  delete limited['assuredConcurrencyShares'];
}

const objectsIn = (list: Json | undefined): JsonObject[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);
