/** The controllers that there are here, by the names that kube-controller-manager has for them. */
export const CONTROLLER_NAMES = [
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
  'namespace-controller',
  'garbage-collector-controller',
  'pod-garbage-collector-controller',
  'resourcequota-controller',
  'validatingadmissionpolicy-status-controller',
  'storage-version-migrator-controller',
] as const;

export type ControllerName = (typeof CONTROLLER_NAMES)[number];

/** What `--controllers` switches on: a name is that one, `-name` all but that one, `*` all. The first that speaks of a name decides, and `*` speaks last. */
export function enabledControllers(list: readonly string[]): ControllerName[] {
  return CONTROLLER_NAMES.filter((name) => {
    const word = list.find((entry) => entry === name || entry === `-${name}`) ?? list.find((entry) => entry === '*');
    return word !== undefined && !word.startsWith('-');
  });
}

/** Entries of the list that name nothing. */
export function unknownControllers(list: readonly string[]): string[] {
  return list.filter((entry) => entry !== '*' && !(CONTROLLER_NAMES as readonly string[]).includes(entry.replace(/^-/, '')));
}
