import type { Job } from '../apis/facts/types/batch-v1.ts';
import type { PodGroup } from '../apis/facts/types/scheduling-v1alpha2.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { quote } from '../util/go-quote.ts';
import { type AdmissionPlugin, type PluginEnvironment, UPDATE } from './plugin.ts';
import { refusal } from './refusal.ts';

/** Pods that are scheduled all together or not at all stay as many as they are (plugin/pkg/admission/job). */
export function jobValidation({ client, isEnabled }: PluginEnvironment): AdmissionPlugin {
  const isOn = isEnabled('GenericWorkload');

  async function validate(attributes: AdmissionAttributes): Promise<void> {
    const old = attributes.oldObject as Job;
    if (!isOn || (attributes.object as Job).spec.parallelism === old.spec.parallelism) return;
    const groups = client.resource<PodGroup>('scheduling.k8s.io', 'podgroups');
    const named = old.spec.template.spec?.schedulingGroup?.podGroupName;
    const candidates =
      named === undefined ? (await groups.list(attributes.namespace)).filter(isControlledBy(old)) : [await groups.get(attributes.namespace, named)];
    const gang = candidates.find((group) => group?.spec.schedulingPolicy.gang);
    if (gang) throw refusal(attributes, `cannot change parallelism for a Job referencing gang-scheduled PodGroup ${quote(gang.metadata.name!)}`);
  }
  return { name: 'JobValidation', operations: UPDATE, targets: ['jobs.batch'], validate };
}

const isControlledBy =
  ({ metadata }: Job) =>
  (group: PodGroup): boolean =>
    (group.metadata.ownerReferences ?? []).some(({ controller, uid }) => controller === true && uid === metadata.uid);
