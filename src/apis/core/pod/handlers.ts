import type { FieldErrors } from '../../../api/field-errors.ts';
import { patternError } from '../../../api/names.ts';
import type { HTTPGetAction, Lifecycle, LifecycleHandler, PodOS, PodSpec, Probe, ProbeHandler } from '../../facts/types/core-v1.ts';
import { validateNonNegative } from '../../validation/non-negative.ts';
import { validatePortNumber, validatePortNumberOrName } from '../../validation/ports.ts';
import type { AnyContainer } from './containers-of.ts';

/** What is run or asked: probes and lifecycle hooks. `graceSeconds` is the pod's. */
type Handler = ProbeHandler & LifecycleHandler;

const SCHEMES = ['HTTP', 'HTTPS'];
const HEADER_NAME = /^[-A-Za-z0-9]+$/;
const HEADER_NAME_WRONG = patternError("a valid HTTP header must consist of alphanumeric characters or '-'", '[-A-Za-z0-9]+', 'X-Header-Name');
const COUNTS = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'] as const;

const numbered = (from: number, to: number, prefix: string): string[] => Array.from({ length: to - from + 1 }, (_, index) => `${prefix}${from + index}`);
const LINUX_SIGNALS = [
  ...'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2'.split(' '),
  ...'VTALRM WINCH XCPU XFSZ RTMIN RTMAX'.split(' '),
  ...numbered(1, 15, 'RTMIN+'),
  ...numbered(1, 14, 'RTMAX-'),
]
  .map((name) => `SIG${name}`)
  .toSorted();
const WINDOWS_SIGNALS = ['SIGKILL', 'SIGTERM'];

/** In the order in which they are checked; the first one counts. */
const HANDLERS: { [K in keyof Handler]-?: (action: NonNullable<Handler[K]>, errors: FieldErrors, graceSeconds: number | undefined) => void } = {
  exec({ command }, errors) {
    if (!command) errors.at('command').required();
  },
  httpGet: validateHttpGet,
  tcpSocket: ({ port }, errors) => validatePortNumberOrName(port, errors.at('port')),
  grpc: ({ port }, errors) => validatePortNumber(port, errors.at('port')),
  sleep({ seconds }, errors, graceSeconds) {
    if (graceSeconds !== undefined && (seconds < 0 || seconds > graceSeconds))
      errors.invalid(seconds, `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`);
  },
};
const HANDLER_NAMES = Object.keys(HANDLERS) as (keyof Handler)[];

function validateHandler(handler: Handler, errors: FieldErrors, graceSeconds: number | undefined): void {
  let isFound = false;
  for (const name of HANDLER_NAMES) {
    const action = handler[name];
    if (action === undefined) continue;
    if (isFound) errors.at(name).forbidden('may not specify more than 1 handler type');
    else HANDLERS[name](action as never, errors.at(name), graceSeconds);
    isFound = true;
  }
  if (!isFound) errors.required('must specify a handler type');
}

function validateHttpGet({ path, port, scheme = '', httpHeaders = [] }: HTTPGetAction, errors: FieldErrors): void {
  if (!path) errors.at('path').required();
  validatePortNumberOrName(port, errors.at('port'));
  if (!SCHEMES.includes(scheme)) errors.at('scheme').notSupported(scheme, SCHEMES);
  for (const { name } of httpHeaders) if (!HEADER_NAME.test(name)) errors.at('httpHeaders').invalid(name, HEADER_NAME_WRONG);
}

function validateProbe(probe: Probe, errors: FieldErrors, graceSeconds: number | undefined): void {
  validateHandler(probe, errors, graceSeconds);
  for (const field of COUNTS) validateNonNegative(probe[field], errors.at(field));
  const own = probe.terminationGracePeriodSeconds;
  if (own !== undefined && own <= 0) errors.at('terminationGracePeriodSeconds').invalid(own, 'must be greater than 0');
}

/** The lifecycle and probes of a container that runs on: a regular one or a sidecar. */
export function validateHandlers(container: AnyContainer, errors: FieldErrors, { terminationGracePeriodSeconds: graceSeconds, os }: PodSpec): void {
  if (container.lifecycle) validateLifecycle(container.lifecycle, errors.at('lifecycle'), graceSeconds, os);
  if (container.livenessProbe) validateOnceSuccessful(container.livenessProbe, errors.at('livenessProbe'), graceSeconds);
  if (container.readinessProbe) validateReadiness(container.readinessProbe, errors.at('readinessProbe'), graceSeconds);
  if (container.startupProbe) validateOnceSuccessful(container.startupProbe, errors.at('startupProbe'), graceSeconds);
}

function validateLifecycle(lifecycle: Lifecycle, errors: FieldErrors, graceSeconds: number | undefined, os: PodOS | undefined): void {
  const { postStart, preStop, stopSignal } = lifecycle;
  if (postStart) validateHandler(postStart, errors.at('postStart'), graceSeconds);
  if (preStop) validateHandler(preStop, errors.at('preStop'), graceSeconds);
  if (stopSignal !== undefined) validateStopSignal(stopSignal, os, errors.at('stopSignal'));
}

function validateStopSignal(signal: string, os: PodOS | undefined, errors: FieldErrors): void {
  if (!os) return errors.forbidden('may not be set for containers with empty `spec.os.name`');
  const supported = os.name === 'windows' ? WINDOWS_SIGNALS : os.name === 'linux' ? LINUX_SIGNALS : undefined;
  if (supported && !supported.includes(signal)) errors.notSupported(signal, supported);
}

/** A liveness or startup probe: one success is all that it can mean. */
function validateOnceSuccessful(probe: Probe, errors: FieldErrors, graceSeconds: number | undefined): void {
  validateProbe(probe, errors, graceSeconds);
  if (probe.successThreshold !== 1) errors.at('successThreshold').invalid(probe.successThreshold ?? 0, 'must be 1');
}

function validateReadiness(probe: Probe, errors: FieldErrors, graceSeconds: number | undefined): void {
  validateProbe(probe, errors, graceSeconds);
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined) errors.at('terminationGracePeriodSeconds').invalid(grace, 'must not be set for readinessProbes');
}
