import { type AdmissionPlugin, CREATE, type PluginEnvironment } from './plugin.ts';

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
