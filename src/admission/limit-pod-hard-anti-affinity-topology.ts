import type { Pod } from '../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { forbidden } from '../api/errors.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE } from './plugin.ts';

const HOSTNAME = 'kubernetes.io/hostname';

/** A pod may keep others off its node, but not off more than that (plugin/pkg/admission/antiaffinity). */
export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  operations: CREATE_OR_UPDATE,
  targets: ['pods'],
  validate({ object }: AdmissionAttributes): void {
    const { metadata, spec } = object as Pod;
    const terms = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const wide = terms.find(({ topologyKey }) => topologyKey !== HOSTNAME);
    if (!wide) return;
    const why = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wide.topologyKey} but only key ${HOSTNAME} is allowed`;
    throw forbidden({ group: '', resource: 'pods' }, metadata.name ?? '', why);
  },
};
