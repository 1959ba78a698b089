import type { KindSettings } from '../../../registry/write.ts';
import type { FieldErrors } from '../../../api/field-errors.ts';
import { dns1123SubdomainErrors } from '../../../api/names.ts';
import type { PodSpec, WindowsSecurityContextOptions } from '../../facts/types/core-v1.ts';
import { containersAt } from './containers-of.ts';

const MAX_CREDENTIAL_SPEC_BYTES = 64 * 1024;
const MAX_DOMAIN_BYTES = 256;
const MAX_USER_BYTES = 104;
const NETBIOS_DOMAIN = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DNS_DOMAIN_LABEL = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;

export function validateWindowsOptions(options: WindowsSecurityContextOptions | undefined, errors: FieldErrors): void {
  if (!options) return;
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  if (gmsaCredentialSpecName !== undefined)
    for (const error of dns1123SubdomainErrors(gmsaCredentialSpecName)) errors.at('gmsaCredentialSpecName').invalidTyped(gmsaCredentialSpecName, error);
  if (gmsaCredentialSpec !== undefined) validateCredentialSpec(gmsaCredentialSpec, errors.at('gmsaCredentialSpec'));
  if (runAsUserName !== undefined) for (const error of userNameErrors(runAsUserName)) errors.at('runAsUserName').invalidTyped(runAsUserName, error);
}

function validateCredentialSpec(text: string, errors: FieldErrors): void {
  if (text === '') errors.invalidTyped(text, 'gmsaCredentialSpec cannot be an empty string');
  else if (Buffer.byteLength(text) > MAX_CREDENTIAL_SPEC_BYTES) errors.invalidTyped(text, 'gmsaCredentialSpec size must be under 64 KiB');
}

/** `DOMAIN\user`, the domain being optional. */
function userNameErrors(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (CONTROL.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const user = parts.at(-1)!;
  const domain = parts.length === 2 ? parts[0]! : undefined;
  const errors: string[] = [];
  if (domain !== undefined && Buffer.byteLength(domain) >= MAX_DOMAIN_BYTES)
    errors.push(`runAsUserName's Domain length must be under ${MAX_DOMAIN_BYTES} characters`);
  if (domain !== undefined && !isDomain(domain)) errors.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  if (user === '') errors.push("runAsUserName's User cannot be empty");
  else if (Buffer.byteLength(user) > MAX_USER_BYTES) errors.push(`runAsUserName's User length must not be longer than ${MAX_USER_BYTES} characters`);
  if (/^[. ]+$/.test(user)) errors.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) errors.push(String.raw`runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`);
  return errors;
}

const isDomain = (domain: string): boolean => NETBIOS_DOMAIN.test(domain) || domain.split('.').every((label) => DNS_DOMAIN_LABEL.test(label));

/** Containers that run on the Windows host itself: all of a pod's or none (KEP-1981). `errors` stands at the spec. */
export function validateHostProcesses(spec: PodSpec, errors: FieldErrors, { allowsPrivileged }: KindSettings): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let count = 0;
  let hostProcessCount = 0;
  for (const [{ securityContext }, at] of containersAt(spec, errors)) {
    const own = securityContext?.windowsOptions?.hostProcess;
    count++;
    if (ofPod !== undefined && own !== undefined && own !== ofPod)
      at.at('securityContext', 'windowsOptions', 'hostProcess').invalid(own, `pod hostProcess value must be identical if both are specified, was ${ofPod}`);
    if (own ?? ofPod) hostProcessCount++;
  }
  if (hostProcessCount === 0) return;
  if (hostProcessCount !== count) errors.invalid('', 'If pod contains any hostProcess containers then all containers must be HostProcess containers');
  if (!spec.hostNetwork) errors.at('hostNetwork').invalid(false, 'hostNetwork must be true if pod contains any hostProcess containers');
  if (!allowsPrivileged) errors.forbidden('hostProcess containers are disallowed by cluster policy');
}

/** What a pod that says it is for Linux or Windows may not ask of the other. `errors` stands at the spec. */
export function validateForOs(spec: PodSpec, errors: FieldErrors): void {
  if (spec.os!.name === 'linux') validateForLinux(spec, errors);
  else validateForWindows(spec, errors);
}

function validateForLinux(spec: PodSpec, errors: FieldErrors): void {
  const why = 'windows options cannot be set for a linux pod';
  if (spec.securityContext?.windowsOptions) errors.at('securityContext', 'windowsOptions').forbidden(why);
  for (const [{ securityContext }, at] of containersAt(spec, errors))
    if (securityContext?.windowsOptions) at.at('securityContext', 'windowsOptions').forbidden(why);
}

/** In upstream's order; those with `spec` stand in the spec here, and in the security context in upstream's internal form. */
const LINUX_POD_FIELDS = [
  ['appArmorProfile', 'seLinuxOptions'],
  ['spec:hostUsers', 'spec:hostPID', 'spec:hostIPC'],
  ['seccompProfile', 'fsGroup', 'fsGroupChangePolicy', 'sysctls'],
  ['spec:shareProcessNamespace'],
  ['runAsUser', 'runAsGroup', 'supplementalGroups', 'supplementalGroupsPolicy', 'seLinuxChangePolicy'],
].flat();
const LINUX_CONTAINER_FIELDS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];

function validateForWindows(spec: PodSpec, errors: FieldErrors): void {
  const why = 'cannot be set for a windows pod';
  for (const name of LINUX_POD_FIELDS) {
    const isOfSpec = name.startsWith('spec:');
    const field = isOfSpec ? name.slice('spec:'.length) : name;
    const holder = (isOfSpec ? spec : spec.securityContext) as Record<string, unknown> | undefined;
    if (holder?.[field] !== undefined) (isOfSpec ? errors : errors.at('securityContext')).at(field).forbidden(why);
  }
  for (const [{ securityContext }, at] of containersAt(spec, errors)) {
    for (const field of LINUX_CONTAINER_FIELDS)
      if ((securityContext as Record<string, unknown> | undefined)?.[field] !== undefined) at.at('securityContext', field).forbidden(why);
  }
}
