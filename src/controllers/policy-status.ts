import type { ServedType } from '../apis/admissionregistration/type-checking.ts';
import type { ValidatingAdmissionPolicy } from '../apis/facts/types/admissionregistration-v1.ts';
import type { ApiObject } from '../api/api-object.ts';
import { isApiError } from '../api/errors.ts';
import { runInSlices } from '../util/time-slice.ts';
import { type Controller, type ControllerOptions, stopOnAbort } from './controller.ts';
import { WorkQueue } from './work-queue.ts';

export interface PolicyStatusOptions extends ControllerOptions {
  /** What there is at the time of asking. */
  servedTypes(): readonly ServedType[];
}

const GROUP = 'admissionregistration.k8s.io';
const FIELD_MANAGER = 'validatingadmissionpolicy-status';

/** Says in the status of validating policies where their expressions do not fit the kinds that they are about (pkg/controller/validatingadmissionpolicystatus). */
export const keepPolicyStatus: Controller<PolicyStatusOptions> = async (client, options) => {
  const policies = client.resource<ValidatingAdmissionPolicy>(GROUP, 'validatingadmissionpolicies', FIELD_MANAGER);
  await policies.informer.synced;
  if (options.signal.aborted) return;
  const queue = new WorkQueue(
    async (name) => {
      const policy = policies.informer.get('', name);
      if (!policy || !isOutOfDate(policy)) return;
      try {
        await policies.apply('', name, await statusOf(policy, options.servedTypes()), 'status');
      } catch (error) {
        if (!isApiError(error, 'NotFound')) throw error;
      }
    },
    { ...options, name: 'validatingadmissionpolicy-status' },
  );
  const add = (policy: ValidatingAdmissionPolicy): void => {
    if (isOutOfDate(policy)) queue.add(policy.metadata.name!);
  };
  stopOnAbort(options.signal, [policies.informer.onChange((policy) => void (policy && add(policy)))]);
  for (const policy of policies.informer.list('')) add(policy);
  await queue.idle();
};

const isOutOfDate = ({ metadata, status }: ValidatingAdmissionPolicy): boolean => (metadata.generation ?? 0) > (status?.observedGeneration ?? 0);

async function statusOf(policy: ValidatingAdmissionPolicy, served: readonly ServedType[]): Promise<ApiObject> {
  // The expression language is slow to load, and many servers have no policy.
  const { expressionWarnings } = await import('../apis/admissionregistration/type-checking.ts');
  const warnings = await runInSlices(expressionWarnings(policy, served));
  const config = {
    kind: 'ValidatingAdmissionPolicy',
    apiVersion: `${GROUP}/v1`,
    metadata: { name: policy.metadata.name! },
    status: { observedGeneration: policy.metadata.generation!, typeChecking: warnings.length === 0 ? {} : { expressionWarnings: warnings } },
  };
  return config as ApiObject;
}
