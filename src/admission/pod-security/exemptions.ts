import type { AdmissionAttributes } from '../../registry/admission.ts';
import { quote } from '../../util/go-quote.ts';
import { PREFIX, type NamespaceLevels, type PolicyDefaults, equalStandards, standardName } from './policy.ts';

/** pod-security.admission.config.k8s.io PodSecurityConfiguration. */
export interface PodSecurityConfiguration {
  /** What namespaces without labels ask for, by mode: `enforce`, `enforce-version` and so on. */
  defaults: PolicyDefaults;
  usernames: ReadonlySet<string>;
  namespaces: ReadonlySet<string>;
  runtimeClasses: ReadonlySet<string>;
}

export const NOT_CONFIGURED: PodSecurityConfiguration = { defaults: {}, usernames: new Set(), namespaces: new Set(), runtimeClasses: new Set() };

/** Whether nobody looks at the write, for where it goes or who makes it; the audit record says why. */
export function isExempt({ namespaces, usernames }: PodSecurityConfiguration, { namespace, user, context }: AdmissionAttributes): boolean {
  const why = namespaces.has(namespace) ? 'namespace' : usernames.has(user.name) ? 'user' : undefined;
  if (why !== undefined) context.annotateAudit(`${PREFIX}exempt`, why);
  return why !== undefined;
}

/** The same for how the pod is to be run. */
export function runsExempt({ runtimeClasses }: PodSecurityConfiguration, runtimeClassName: string | undefined, { context }: AdmissionAttributes): boolean {
  if (!runtimeClassName || !runtimeClasses.has(runtimeClassName)) return false;
  context.annotateAudit(`${PREFIX}exempt`, 'runtimeClass');
  return true;
}

/** For whoever labels a namespace that is exempt; undefined where the labels ask for nothing. */
export function exemptionWarning(
  name: string,
  policy: NamespaceLevels,
  defaultPolicy: NamespaceLevels,
  labels: Readonly<Record<string, string>> = {},
): string | undefined {
  const modes = ['enforce', 'audit', 'warn'] as const;
  const isOpen = modes.every((mode) => policy[mode].level === 'privileged');
  if (isOpen || modes.every((mode) => equalStandards(policy[mode], defaultPolicy[mode]))) return undefined;
  const isLabelled = (mode: string): boolean => Object.hasOwn(labels, PREFIX + mode) || Object.hasOwn(labels, `${PREFIX}${mode}-version`);
  const asked = modes.filter((mode) => policy[mode].level !== 'privileged' && isLabelled(mode)).map((mode) => `${mode}=${standardName(policy[mode])}`);
  return `namespace ${quote(name)} is exempt from Pod Security, and the policy (${asked.join(', ')}) will be ignored`;
}
