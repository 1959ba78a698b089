import { type AdmissionPlugin, type PluginEnvironment, CREATE } from './plugin.ts';
import { refusal } from './refusal.ts';
import type { PodGroup, Workload } from '../apis/facts/types/scheduling-v1alpha2.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { quote } from '../util/go-quote.ts';

const FINALIZER = 'scheduling.k8s.io/podgroup-protection';

/** A group that pods still refer to is not deleted under them; a controller takes the finalizer away (plugin/pkg/admission/scheduling/podgroupprotection). */
export function podGroupProtection({ isEnabled }: PluginEnvironment): AdmissionPlugin {
  const isOn = isEnabled('GenericWorkload');
  return {
    name: 'PodGroupProtection',
    operations: CREATE,
    targets: ['podgroups.scheduling.k8s.io'],
    mutate({ object }) {
      const { metadata } = object!;
      const present = metadata.finalizers ?? [];
      if (isOn && !present.includes(FINALIZER)) metadata.finalizers = [...present, FINALIZER];
    },
  };
}

/** A group of pods is made from a template that there is (plugin/pkg/admission/podgroup). */
export function podGroupWorkloadExists({ client, isEnabled }: PluginEnvironment): AdmissionPlugin {
  const isOn = isEnabled('GenericWorkload');

  async function validate(attributes: AdmissionAttributes): Promise<void> {
    const reference = (attributes.object as PodGroup).spec.podGroupTemplateRef?.workload;
    if (!isOn || !reference) return;
    const { workloadName, podGroupTemplateName } = reference;
    const workload = await client.resource<Workload>('scheduling.k8s.io', 'workloads').get(attributes.namespace, workloadName);
    if (!workload) throw refusal(attributes, `PodGroup rejected: Workload ${quote(workloadName)} not found`);
    if (workload.metadata.deletionTimestamp) throw refusal(attributes, `PodGroup rejected: Workload ${quote(workloadName)} is being deleted`);
    if ((workload.spec.podGroupTemplates ?? []).some(({ name }) => name === podGroupTemplateName)) return;
    throw refusal(attributes, `PodGroup rejected: PodGroupTemplate ${quote(podGroupTemplateName)} not found in Workload ${quote(workloadName)}`);
  }
  return { name: 'PodGroupWorkloadExists', operations: CREATE, targets: ['podgroups.scheduling.k8s.io'], validate };
}
