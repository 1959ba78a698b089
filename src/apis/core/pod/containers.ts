import type { EmptyPaths } from '../../../schema/empty-paths.ts';
import type { FieldErrors } from '../../../api/field-errors.ts';
import { dns1123LabelErrors } from '../../../api/names.ts';
import { checkEach } from '../../../api/validation-run.ts';
import type { Container, ContainerPort, ContainerResizePolicy, EphemeralContainer, PodSpec } from '../../facts/types/core-v1.ts';
import { validateChoice } from '../../validation/choice.ts';
import { portNameErrors, validatePortNumber } from '../../validation/ports.ts';
import { type AnyContainer, isSidecar } from './containers-of.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import { validateHandlers } from './handlers.ts';
import { validatePullPolicy } from './pull-policy.ts';
import { validateContainerResources } from './resources.ts';
import { validateInitRestartPolicy, validateRestartPolicy } from './restart-policy.ts';
import type { PodRules } from './rules.ts';
import { validateContainerSecurity } from './security-context.ts';
import { validateVolumeDevices, validateVolumeMounts } from './volume-mounts.ts';
import type { KnownVolumes } from './volumes.ts';

/** What of the pod its containers are validated against. */
export interface PodContext {
  spec: PodSpec;
  volumes: KnownVolumes;
  claimNames: ReadonlySet<string>;
  rules: PodRules;
  /** In the spec. */
  sentEmpty: EmptyPaths;
}

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const RESIZABLE = ['cpu', 'memory'];
const RESIZE_POLICIES = ['NotRequired', 'RestartContainer'];
const HANDLER_FIELDS = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;
/** What a container for debugging may not have, in upstream's order. */
const NOT_EPHEMERAL = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

/** The rules for all three lists; `errors` stands at the spec. */
export function validateAllContainers(context: PodContext, errors: FieldErrors): void {
  validateContainers(context, errors.at('containers'));
  validateInitContainers(context, errors.at('initContainers'));
  validateEphemeralContainers(context, errors.at('ephemeralContainers'));
}

function validateContainers(context: PodContext, errors: FieldErrors): void {
  const containers = context.spec.containers ?? [];
  if (containers.length === 0) return errors.required();
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const at = errors.index(index);
    validateContainer(container, context, at);
    if (names.has(container.name)) at.at('name').duplicate(container.name);
    names.add(container.name);
    validateHandlers(container, at, context.spec);
    validateRestartPolicy(container, at, context.rules);
  }
  validateHostPorts(containers, errors);
}

function validateInitContainers(context: PodContext, errors: FieldErrors): void {
  const { initContainers } = context.spec;
  if (!initContainers) return;
  const names = new Set((context.spec.containers ?? []).map(({ name }) => name));
  for (const [index, container] of initContainers.entries()) {
    const at = errors.index(index);
    validateContainer(container, context, at);
    validateInitRestartPolicy(container, at, context.rules);
    if (names.has(container.name)) at.at('name').duplicate(container.name);
    else if (container.name !== '') names.add(container.name);
    // They run one by one, so each may have the ports of the others.
    validateHostPorts([container], errors);
    if (isSidecar(container)) validateHandlers(container, at, context.spec);
    else validateRunsOnce(container, at, context.rules);
  }
}

function validateRunsOnce(container: Container, errors: FieldErrors, { allowsRestartOnInitResize }: PodRules): void {
  for (const field of HANDLER_FIELDS) if (container[field]) errors.at(field).forbidden('may not be set for init containers without restartPolicy=Always');
  if (allowsRestartOnInitResize) return;
  for (const [index, { restartPolicy }] of (container.resizePolicy ?? []).entries()) {
    if (restartPolicy === 'RestartContainer')
      errors
        .at('resizePolicy')
        .index(index)
        .at('restartPolicy')
        .invalidTyped(restartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers");
  }
}

function validateEphemeralContainers(context: PodContext, errors: FieldErrors): void {
  const containers = context.spec.ephemeralContainers ?? [];
  if (containers.length === 0) return;
  const targets = new Set([...(context.spec.containers ?? []), ...(context.spec.initContainers ?? [])].map(({ name }) => name));
  const names = new Set(targets);
  for (const [index, container] of containers.entries()) {
    const at = errors.index(index);
    validateContainer(container, context, at);
    validateImageText(container, at);
    if (names.has(container.name)) at.at('name').duplicate(container.name);
    names.add(container.name);
    const target = container.targetContainerName ?? '';
    if (target !== '' && !targets.has(target)) at.at('targetContainerName').notFound(target);
    validateEphemeralFields(container, context.sentEmpty.at('ephemeralContainers', index), at);
  }
}

/** What may not be set on such a container may not be sent empty either. */
function validateEphemeralFields(container: EphemeralContainer, sentEmpty: EmptyPaths, errors: FieldErrors): void {
  const why = 'cannot be set for an Ephemeral Container';
  const isSet = (field: (typeof NOT_EPHEMERAL)[number]): boolean =>
    field === 'resources'
      ? Object.keys(container.resources).length > 0 || !sentEmpty.at('resources').isNone
      : container[field] !== undefined || sentEmpty.has(field);
  for (const field of NOT_EPHEMERAL) if (isSet(field)) errors.at(field).forbidden(why);
  for (const [index, { subPath, subPathExpr }] of (container.volumeMounts ?? []).entries()) {
    const at = errors.at('volumeMounts').index(index);
    if (subPath) at.at('subPath').forbidden(why);
    if (subPathExpr) at.at('subPathExpr').forbidden(why);
  }
}

/** What holds for every container. */
function validateContainer(container: AnyContainer, { spec, volumes, claimNames, rules }: PodContext, errors: FieldErrors): void {
  if (container.name === '') errors.at('name').required();
  else for (const error of dns1123LabelErrors(container.name)) errors.at('name').invalid(container.name, error);
  if (!container.image) errors.at('image').required();
  validateChoice(container.terminationMessagePolicy, MESSAGE_POLICIES, errors.at('terminationMessagePolicy'));
  if (container.ports) validatePorts(container.ports, errors.at('ports'));
  if (container.env) validateEnv(container.env, errors.at('env'), rules);
  if (container.envFrom) validateEnvFrom(container.envFrom, errors.at('envFrom'));
  validateVolumeMounts(container, volumes, errors.at('volumeMounts'));
  validateVolumeDevices(container, volumes, errors.at('volumeDevices'));
  validatePullPolicy(container.imagePullPolicy, errors.at('imagePullPolicy'));
  validateContainerResources(container.resources, claimNames, errors.at('resources'), rules);
  if (container.resizePolicy) validateResizePolicy(container.resizePolicy, spec, errors.at('resizePolicy'));
  if (container.securityContext) validateContainerSecurity(container.securityContext, errors.at('securityContext'), spec.hostUsers !== false, rules.settings);
}

/** Templates may have space around an image; pods may not. */
export function validateImageText({ image = '' }: AnyContainer, errors: FieldErrors): void {
  if (image.trim() !== image) errors.at('image').invalid(image, 'must not have leading or trailing whitespace');
}

function validatePorts(ports: readonly ContainerPort[], errors: FieldErrors): void {
  const check = ({ name = '', containerPort, hostPort, protocol }: ContainerPort, index: number, names: Set<string>): void => {
    const at = errors.index(index);
    if (name !== '') validatePortName(name, names, at.at('name'));
    if (containerPort === 0) at.at('containerPort').required();
    else validatePortNumber(containerPort, at.at('containerPort'));
    if (hostPort) validatePortNumber(hostPort, at.at('hostPort'));
    validateChoice(protocol, PROTOCOLS, at.at('protocol'));
  };
  checkEach(errors, 'ports', ports, check, () => new Set<string>());
}

function validatePortName(name: string, names: Set<string>, errors: FieldErrors): void {
  const wrong = portNameErrors(name);
  for (const error of wrong) errors.invalid(name, error);
  if (wrong.length > 0) return;
  if (names.has(name)) errors.duplicate(name);
  names.add(name);
}

/** No two of the containers may claim one port of the node. */
function validateHostPorts(containers: readonly Container[], errors: FieldErrors): void {
  const taken = new Set<string>();
  for (const [index, { ports = [] }] of containers.entries()) {
    for (const [portIndex, { hostPort = 0, protocol = '', hostIP = '' }] of ports.entries()) {
      if (hostPort === 0) continue;
      const claim = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(claim)) errors.index(index).at('ports').index(portIndex).at('hostPort').duplicate(claim);
      taken.add(claim);
    }
  }
}

/** Faults are reported at the list; only a repeated resource has its index. */
function validateResizePolicy(policies: readonly ContainerResizePolicy[], spec: PodSpec, errors: FieldErrors): void {
  const resources = new Set<string>();
  for (const [index, { resourceName, restartPolicy }] of policies.entries()) {
    if (resources.has(resourceName)) errors.index(index).duplicateTyped(resourceName);
    resources.add(resourceName);
    validateChoice(resourceName, RESIZABLE, errors);
    validateChoice(restartPolicy, RESIZE_POLICIES, errors);
    if (spec.restartPolicy === 'Never' && restartPolicy !== 'NotRequired')
      errors.invalidTyped(restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
  }
}
