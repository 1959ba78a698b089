import type { FieldErrors } from '../../../api/field-errors.ts';
import { checkEach } from '../../../api/validation-run.ts';
import type { PodSpec, Sysctl } from '../../facts/types/core-v1.ts';
import type { PodRules } from './rules.ts';

const MAX_LENGTH = 253;
const SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const PATTERN = `^(${SEGMENT}[\\./])*${SEGMENT}$`;
const segmentExpression = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/;

/** Kernel parameters that each IPC or network namespace has for itself (component-helpers/kernel, pkg/kubelet/util sysctl namespaces). */
const IPC = { names: ['kernel.sem'], prefixes: ['kernel.shm', 'kernel.msg', 'fs.mqueue.'] };
const NETWORK = { names: [], prefixes: ['net.'] };

export function validateSysctls(sysctls: readonly Sysctl[], spec: PodSpec, errors: FieldErrors, { allowsHostSysctls }: PodRules): void {
  const check = ({ name }: Sysctl, index: number, names: Set<string>): void => {
    const at = errors.index(index).at('name');
    if (name === '') at.required();
    else if (!isSysctlName(name)) at.invalid(name, `must have at most ${MAX_LENGTH} characters and match regex ${PATTERN}`);
    else if (names.has(name)) at.duplicate(name);
    const shared = allowsHostSysctls ? undefined : sharedNamespace(name, spec);
    if (shared !== undefined) at.invalid(name, `may not be specified when '${shared}' is true`);
    names.add(name);
  };
  checkEach(errors, 'sysctls', sysctls, check, () => new Set<string>());
}

/** Segment by segment, so that no input makes the expression go back. */
const isSysctlName = (name: string): boolean => name.length <= MAX_LENGTH && name.split(/[./]/).every((segment) => segmentExpression.test(segment));

/** The field by which the pod gave up a namespace of its own to which the parameter belongs. */
function sharedNamespace(sysctl: string, { hostNetwork, hostIPC }: PodSpec): 'hostNetwork' | 'hostIPC' | undefined {
  const name = toDotted(sysctl);
  if (hostNetwork && belongs(name, NETWORK)) return 'hostNetwork';
  if (hostIPC && belongs(name, IPC)) return 'hostIPC';
  return undefined;
}

const belongs = (name: string, { names, prefixes }: { names: readonly string[]; prefixes: readonly string[] }): boolean =>
  names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix));

/** `net/ipv4/tcp_tw.reuse` is the same as `net.ipv4.tcp_tw/reuse`: the first separator says which is which (sysctl(8)). */
function toDotted(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  if (separator !== '/') return name;
  return name.replace(/[./]/g, (mark) => (mark === '/' ? '.' : '/'));
}

export const hasHostSysctls = (spec: PodSpec): boolean => (spec.securityContext?.sysctls ?? []).some(({ name }) => sharedNamespace(name, spec) !== undefined);
