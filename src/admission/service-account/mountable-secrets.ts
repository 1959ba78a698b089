import type { AnyContainer } from '../../apis/core/pod/containers-of.ts';
import type { Pod, ServiceAccount } from '../../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { refusal } from '../refusal.ts';

const ANNOTATION = 'kubernetes.io/enforce-mountable-secrets';
/** What Go's strconv.ParseBool takes for true. */
const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

/** Whether pods that run as the account may use only the secrets that it names. */
export const limitsSecrets = ({ metadata }: ServiceAccount): boolean => TRUE.has(metadata.annotations?.[ANNOTATION] ?? '');

export function checkSecrets(attributes: AdmissionAttributes, { spec }: Pod, account: ServiceAccount): void {
  const mountable = namesOf(account.secrets);
  for (const { secret } of spec.volumes ?? []) {
    if (secret && !mountable.has(secret.secretName ?? '')) throw notReferenced(attributes, account, 'volume with', secret.secretName);
  }
  checkContainers(attributes, account, mountable, 'init container', spec.initContainers ?? []);
  checkContainers(attributes, account, mountable, 'container', spec.containers ?? []);
  const pullable = namesOf(account.imagePullSecrets);
  for (const [index, { name = '' }] of (spec.imagePullSecrets ?? []).entries()) {
    if (pullable.has(name)) continue;
    throw refusal(
      attributes,
      `imagePullSecrets[${index}].name="${name}" is not allowed because service account ${account.metadata.name} does not reference that imagePullSecret`,
    );
  }
}

export function checkSecretsOfEphemeralContainers(attributes: AdmissionAttributes, { spec }: Pod, account: ServiceAccount): void {
  checkContainers(attributes, account, namesOf(account.secrets), 'ephemeral container', spec.ephemeralContainers ?? []);
}

const namesOf = (references: readonly { name?: string }[] = []): Set<string> => new Set(references.map(({ name = '' }) => name));

function checkContainers(
  attributes: AdmissionAttributes,
  account: ServiceAccount,
  mountable: ReadonlySet<string>,
  what: string,
  containers: readonly AnyContainer[],
): void {
  for (const { name, env = [], envFrom = [] } of containers) {
    for (const variable of env) {
      const reference = variable.valueFrom?.secretKeyRef;
      if (reference && !mountable.has(reference.name ?? ''))
        throw notReferenced(attributes, account, `${what} ${name} with envVar ${variable.name} referencing`, reference.name);
    }
    for (const { secretRef } of envFrom) {
      if (secretRef && !mountable.has(secretRef.name ?? ''))
        throw notReferenced(attributes, account, `${what} ${name} with envFrom referencing`, secretRef.name);
    }
  }
}

const notReferenced = (attributes: AdmissionAttributes, account: ServiceAccount, user: string, secret = ''): Error =>
  refusal(attributes, `${user} secret.secretName="${secret}" is not allowed because service account ${account.metadata.name} does not reference that secret`);
