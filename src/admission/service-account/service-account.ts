import type { Pod, ServiceAccount } from '../../apis/facts/types/core-v1.ts';
import { MIRROR } from '../../apis/core/pod/annotations.ts';
import type { Informer } from '../../client/client.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { quote } from '../../util/go-quote.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE, type PluginEnvironment } from '../plugin.ts';
import { refusal, lookupNameError } from '../refusal.ts';
import { checkMirrorPod } from './mirror-pod.ts';
import { checkSecrets, checkSecretsOfEphemeralContainers, limitsSecrets } from './mountable-secrets.ts';
import { mountToken } from './token-volume.ts';

const DEFAULT_ACCOUNT = 'default';
/** A controller makes a namespace's default account, a moment after the namespace. Upstream asks ten times, a tenth to a fifth of a second apart. */
const DEFAULT_ACCOUNT_WAIT_MS = 1_350;

/** Pods run as somebody: an account that exists, with its token mounted and its pull secrets at hand (plugin/pkg/admission/serviceaccount). */
export function serviceAccount({ client }: PluginEnvironment, defaultAccountWaitMs = DEFAULT_ACCOUNT_WAIT_MS): AdmissionPlugin {
  const accounts = client.resource<ServiceAccount>('', 'serviceaccounts').informer;

  function mutate(attributes: AdmissionAttributes): Promise<void> | void {
    if (attributes.operation !== 'CREATE') return;
    const pod = attributes.object as Pod;
    // A kubelet deletes a mirror pod that differs from what it mirrors.
    if (isMirror(pod)) return checkMirrorPod(attributes, pod);
    const name = pod.spec.serviceAccountName || DEFAULT_ACCOUNT;
    pod.spec.serviceAccountName = name;
    pod.spec.serviceAccount = name;
    const account = accounts.get(attributes.namespace, name);
    if (account) return runAs(attributes, pod, account);
    if (name !== DEFAULT_ACCOUNT) throw notThere(attributes, name);
    return runAsDefault(attributes, pod);
  }

  async function runAsDefault(attributes: AdmissionAttributes, pod: Pod): Promise<void> {
    const account = await arrivalOf(accounts, attributes.namespace, DEFAULT_ACCOUNT, defaultAccountWaitMs);
    if (!account) throw notThere(attributes, DEFAULT_ACCOUNT);
    runAs(attributes, pod, account);
  }

  function validate(attributes: AdmissionAttributes): void {
    const { operation, subresource } = attributes;
    const pod = attributes.object as Pod;
    const isEphemeral = operation === 'UPDATE' && subresource === 'ephemeralcontainers';
    if (operation !== 'CREATE' && !isEphemeral) return;
    if (!isEphemeral && isMirror(pod)) return checkMirrorPod(attributes, pod);
    const name = pod.spec.serviceAccountName;
    if (!name) throw refusal(attributes, `no service account specified for pod ${attributes.namespace}/${pod.metadata.name ?? ''}`);
    const account = accounts.get(attributes.namespace, name);
    if (!account) throw notThere(attributes, name);
    if (!limitsSecrets(account)) return;
    if (isEphemeral) checkSecretsOfEphemeralContainers(attributes, pod, account);
    else checkSecrets(attributes, pod, account);
  }
  return { name: 'ServiceAccount', operations: CREATE_OR_UPDATE, targets: ['pods', 'pods/ephemeralcontainers'], mutate, validate };
}

const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.[MIRROR] !== undefined;

const notThere = (attributes: AdmissionAttributes, name: string): Error =>
  refusal(
    attributes,
    `error looking up service account ${attributes.namespace}/${name}: ${lookupNameError(name) ?? `serviceaccount ${quote(name)} not found`}`,
  );

function runAs(attributes: AdmissionAttributes, pod: Pod, account: ServiceAccount): void {
  const { spec } = pod;
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(spec);
  const pullSecrets = account.imagePullSecrets ?? [];
  if (!spec.imagePullSecrets?.length && pullSecrets.length > 0) spec.imagePullSecrets = pullSecrets.map(({ name = '' }) => ({ name }));
  if (limitsSecrets(account)) checkSecrets(attributes, pod, account);
}

function arrivalOf(accounts: Informer<ServiceAccount>, namespace: string, name: string, waitMs: number): Promise<ServiceAccount | undefined> {
  return new Promise((resolve) => {
    const end = (arrived?: ServiceAccount): void => {
      stop();
      clearTimeout(timer);
      resolve(arrived);
    };
    const timer = setTimeout(end, waitMs);
    const stop = accounts.onChange((account) => {
      if (account?.metadata.name === name && account.metadata.namespace === namespace) end(account);
    });
  });
}
