import type { ObjectMeta } from '../../../api/api-object.ts';
import type { FieldErrors } from '../../../api/field-errors.ts';
import { quote } from '../../../util/go-quote.ts';
import { parseJson } from '../../../encoding/json.ts';
import type { AppArmorProfile, Pod, PodSpec, SeccompProfile, Toleration } from '../../facts/types/core-v1.ts';
import { validateDescendingPath } from '../../validation/local-path.ts';
import { containersAt, containersOf } from './containers-of.ts';
import type { PodRules } from './rules.ts';
import { validateTolerations } from './tolerations.ts';

/** Annotations that mean something to the API server: most are fields now, and then both must say the same. */
export const MIRROR = 'kubernetes.io/config.mirror';
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
export const POD_SECCOMP = 'seccomp.security.alpha.kubernetes.io/pod';
export const CONTAINER_SECCOMP = 'container.seccomp.security.alpha.kubernetes.io/';
export const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/';
const RUNTIME_DEFAULT = 'runtime/default';
const DOCKER_DEFAULT = 'docker/default';
const UNCONFINED = 'unconfined';
const LOCALHOST = 'localhost/';

type Annotations = ObjectMeta['annotations'];

/** Whether the cost of deleting the pod, if one is given, is a 32-bit integer without sign or zeros before it. */
export function isDeletionCost(annotations: Annotations): boolean {
  const cost = annotations?.[DELETION_COST];
  if (cost === undefined) return true;
  return /^(?:0|-[0-9]{1,12}|[1-9][0-9]{0,11})$/.test(cost) && Number(cost) >= -(2 ** 31) && Number(cost) < 2 ** 31;
}

/** `errors` stands at the annotations. */
export function validatePodAnnotations({ annotations }: ObjectMeta, spec: PodSpec, errors: FieldErrors, rules: PodRules): void {
  if (!annotations) return;
  if (annotations[MIRROR] !== undefined && !spec.nodeName)
    errors.key(MIRROR).invalid(annotations[MIRROR], 'must set spec.nodeName if mirror pod annotation is set');
  if (annotations[TOLERATIONS]) validateTolerationsText(annotations[TOLERATIONS], errors, rules);
  if (!rules.allowsInvalidDeletionCost && !isDeletionCost(annotations))
    errors.key(DELETION_COST).invalid(annotations[DELETION_COST], 'must be a 32bit integer');
  if (annotations[POD_SECCOMP] !== undefined) validateSeccompText(annotations[POD_SECCOMP], errors.at(POD_SECCOMP));
  for (const [key, value] of Object.entries(annotations)) if (key.startsWith(CONTAINER_SECCOMP)) validateSeccompText(value, errors.at(key));
  const appArmor = Object.entries(annotations).filter(([key]) => key.startsWith(APP_ARMOR));
  if (appArmor.length === 0) return;
  const names = new Set(containersOf(spec).map(({ name }) => name));
  for (const [key, value] of appArmor) validateAppArmorText(key.slice(APP_ARMOR.length), value, names, errors.key(key));
}

function validateTolerationsText(text: string, errors: FieldErrors, rules: PodRules): void {
  const before = errors.list.length;
  try {
    const value: unknown = parseJson(Buffer.from(text));
    if (areTolerations(value)) validateTolerations(value, errors.at(TOLERATIONS), rules);
    else errors.invalid(TOLERATIONS, 'json: cannot unmarshal value into Go value of type []core.Toleration');
  } catch (error) {
    errors.list.length = before;
    errors.invalid(TOLERATIONS, (error as Error).message);
  }
}

const areTolerations = (value: unknown): value is Toleration[] => Array.isArray(value) && value.every(isToleration);

const isToleration = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).every(([field, item]) => typeof item === 'string' || (field === 'tolerationSeconds' && typeof item === 'number'));

function validateSeccompText(profile: string, errors: FieldErrors): void {
  if ([RUNTIME_DEFAULT, DOCKER_DEFAULT, UNCONFINED].includes(profile)) return;
  if (profile.startsWith(LOCALHOST)) validateDescendingPath(profile.slice(LOCALHOST.length), errors);
  else errors.invalid(profile, 'must be a valid seccomp profile');
}

function validateAppArmorText(name: string, profile: string, names: ReadonlySet<string>, errors: FieldErrors): void {
  if (!names.has(name)) errors.invalid(name, 'container not found');
  if (profile !== '' && profile !== RUNTIME_DEFAULT && profile !== UNCONFINED && !profile.startsWith(LOCALHOST))
    errors.invalid(profile, `invalid AppArmor profile name: ${quote(profile)}`);
}

/** What the mirror and AppArmor annotations of a pod may become: nothing else. `errors` stands at the annotations. */
export function validateAnnotationUpdate(pod: Pod, old: Pod, errors: FieldErrors, rules: PodRules): void {
  const after = pod.metadata.annotations ?? {};
  const before = old.metadata.annotations ?? {};
  for (const key of Object.keys(before)) {
    if (after[key] === before[key]) continue;
    if (key.startsWith(APP_ARMOR)) errors.key(key).forbidden('may not remove or update AppArmor annotations');
    if (key === MIRROR) errors.key(key).forbidden('may not remove or update mirror pod annotation');
  }
  for (const key of Object.keys(after)) {
    if (Object.hasOwn(before, key)) continue;
    if (key.startsWith(APP_ARMOR)) errors.key(key).forbidden('may not add AppArmor annotations');
    if (key === MIRROR) errors.key(key).forbidden('may not add mirror pod annotation');
  }
  validatePodAnnotations(pod.metadata, pod.spec, errors, rules);
}

/** Where a profile stands in an annotation and in its field, both must name the same. `errors` stands at the spec. */
export function validateAnnotationsMatchFields({ annotations }: ObjectMeta, spec: PodSpec, errors: FieldErrors): void {
  if (!annotations) return;
  const podSeccomp = annotations[POD_SECCOMP];
  if (podSeccomp !== undefined) validateSame('seccomp', podSeccomp, spec.securityContext?.seccompProfile, errors.at('securityContext', 'seccompProfile'));
  for (const [{ name, securityContext }, at] of containersAt(spec, errors)) {
    const annotation = annotations[CONTAINER_SECCOMP + name];
    if (annotation !== undefined) validateSame('seccomp', annotation, securityContext?.seccompProfile, at.at('securityContext', 'seccompProfile'));
  }
  if (spec.os?.name === 'windows') return;
  for (const [{ name, securityContext }, at] of containersAt(spec, errors)) {
    const annotation = annotations[APP_ARMOR + name];
    const profile = securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    if (annotation !== undefined) validateSame('apparmor', annotation, profile, at.at('securityContext', 'appArmorProfile'));
  }
}

function validateSame(subject: 'seccomp' | 'apparmor', annotation: string, profile: SeccompProfile | AppArmorProfile | undefined, errors: FieldErrors): void {
  if (!profile) return;
  const differs = (): void => errors.at('type').forbidden(`${subject} type in annotation and field must match`);
  switch (profile.type) {
    case 'Unconfined':
      if (annotation !== UNCONFINED) differs();
      return;
    case 'RuntimeDefault':
      if (annotation !== RUNTIME_DEFAULT && !(subject === 'seccomp' && annotation === DOCKER_DEFAULT)) differs();
      return;
    case 'Localhost':
      if (!annotation.startsWith(LOCALHOST)) differs();
      else if (annotation.slice(LOCALHOST.length) !== profile.localhostProfile)
        errors.at('localhostProfile').forbidden(`${subject} profile in annotation and field must match`);
  }
}

/** The field that an AppArmor annotation stands for; undefined where it stands for none. */
export function appArmorField(annotation: string): AppArmorProfile | undefined {
  if (annotation === UNCONFINED) return { type: 'Unconfined' };
  if (annotation === RUNTIME_DEFAULT) return { type: 'RuntimeDefault' };
  const localhostProfile = annotation.startsWith(LOCALHOST) ? annotation.slice(LOCALHOST.length) : '';
  return localhostProfile === '' ? undefined : { type: 'Localhost', localhostProfile };
}
