import type { KindSettings } from '../../../registry/write.ts';
import type { FieldErrors } from '../../../api/field-errors.ts';
import type { AppArmorProfile, PodSecurityContext, PodSpec, SeccompProfile, SecurityContext } from '../../facts/types/core-v1.ts';
import { validateOptionalChoice } from '../../validation/choice.ts';
import { validateDescendingPath } from '../../validation/local-path.ts';
import { inclusiveRangeError } from '../../validation/ports.ts';
import { internalPodPart } from './internal-form.ts';
import type { PodRules } from './rules.ts';
import { validateSysctls } from './sysctls.ts';
import { validateWindowsOptions } from './windows.ts';

const MAX_ID = 2 ** 31 - 1;
const PROC_MOUNTS = ['Default', 'Unmasked'];
const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const FS_GROUP_POLICIES = ['Always', 'OnRootMismatch'];
const GROUPS_POLICIES = ['Merge', 'Strict'];
const SELINUX_POLICIES = ['MountOption', 'Recursive'];
const PROFILE_MAX_BYTES = 4095;

/** A user's or group's number. */
export function validateId(id: number | bigint | undefined, errors: FieldErrors): void {
  if (id !== undefined && (id < 0 || id > MAX_ID)) errors.invalid(id, inclusiveRangeError(0, MAX_ID));
}

export function validateContainerSecurity(context: SecurityContext, errors: FieldErrors, sharesHostUsers: boolean, { allowsPrivileged }: KindSettings): void {
  if (context.privileged && !allowsPrivileged) errors.at('privileged').forbidden('disallowed by cluster policy');
  validateId(context.runAsUser, errors.at('runAsUser'));
  validateId(context.runAsGroup, errors.at('runAsGroup'));
  validateOptionalChoice(context.procMount, PROC_MOUNTS, errors.at('procMount'));
  if (sharesHostUsers && context.procMount === 'Unmasked')
    errors.at('procMount').invalidTyped(context.procMount, '`hostUsers` must be false to use `Unmasked`');
  validateSeccomp(context.seccompProfile, errors.at('seccompProfile'));
  if (context.allowPrivilegeEscalation === false) validateNoEscalation(context, errors);
  validateWindowsOptions(context.windowsOptions, errors.at('windowsOptions'));
  validateAppArmor(context.appArmorProfile, errors.at('appArmorProfile'));
}

function validateNoEscalation(context: SecurityContext, errors: FieldErrors): void {
  const shown = (): unknown => internalPodPart('SecurityContext', context);
  if (context.privileged) errors.invalid(shown(), 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true');
  for (const capability of context.capabilities?.add ?? []) {
    if (capability === 'CAP_SYS_ADMIN') errors.invalid(shown(), 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN');
  }
}

export function validatePodSecurity(context: PodSecurityContext, spec: PodSpec, errors: FieldErrors, rules: PodRules): void {
  validateId(context.fsGroup, errors.at('fsGroup'));
  validateId(context.runAsUser, errors.at('runAsUser'));
  validateId(context.runAsGroup, errors.at('runAsGroup'));
  for (const [index, group] of (context.supplementalGroups ?? []).entries()) validateId(group, errors.at('supplementalGroups').index(index));
  if (spec.shareProcessNamespace && spec.hostPID) errors.at('shareProcessNamespace').invalid(true, 'ShareProcessNamespace and HostPID cannot both be enabled');
  if (context.sysctls) validateSysctls(context.sysctls, spec, errors.at('sysctls'), rules);
  validateOptionalChoice(context.fsGroupChangePolicy, FS_GROUP_POLICIES, errors.at('fsGroupChangePolicy'));
  validateSeccomp(context.seccompProfile, errors.at('seccompProfile'));
  validateWindowsOptions(context.windowsOptions, errors.at('windowsOptions'));
  validateAppArmor(context.appArmorProfile, errors.at('appArmorProfile'));
  validateOptionalChoice(context.supplementalGroupsPolicy, GROUPS_POLICIES, errors.at('supplementalGroupsPolicy'));
  validateOptionalChoice(context.seLinuxChangePolicy, rules.allowsAnySelinuxChangePolicy ? SELINUX_POLICIES : ['Recursive'], errors.at('seLinuxChangePolicy'));
}

function validateSeccomp(profile: SeccompProfile | undefined, errors: FieldErrors): void {
  if (!profile) return;
  const { type, localhostProfile } = profile;
  if (type === '') errors.at('type').required('type is required when seccompProfile is set');
  else validateOptionalChoice(type, PROFILE_TYPES, errors.at('type'));
  const at = errors.at('localhostProfile');
  if (type !== 'Localhost') {
    if (localhostProfile !== undefined) at.invalid(internalPodPart('SeccompProfile', profile), 'can only be set when seccomp type is Localhost');
  } else if (localhostProfile === undefined) at.required('must be set when seccomp type is Localhost');
  else validateDescendingPath(localhostProfile, at);
}

/** Also for the profile that an annotation stands for. */
export function validateAppArmor(profile: AppArmorProfile | undefined, errors: FieldErrors): void {
  if (!profile) return;
  const { type, localhostProfile } = profile;
  const at = errors.at('localhostProfile');
  if (type === 'Localhost') validateAppArmorLocalhost(localhostProfile, at);
  else if (type === '') errors.at('type').required('type is required when appArmorProfile is set');
  else if (!PROFILE_TYPES.includes(type)) errors.at('type').notSupported(type, PROFILE_TYPES);
  else if (localhostProfile !== undefined) at.invalidTyped(localhostProfile, 'can only be set when AppArmor type is Localhost');
}

function validateAppArmorLocalhost(profile: string | undefined, errors: FieldErrors): void {
  if (profile === undefined) return errors.required('must be set when AppArmor type is Localhost');
  if (profile.trim() !== profile) errors.invalid(profile, 'must not be padded with whitespace');
  else if (profile === '') errors.required('must be set when AppArmor type is Localhost');
  if (Buffer.byteLength(profile) > PROFILE_MAX_BYTES) errors.tooLong(PROFILE_MAX_BYTES);
}
