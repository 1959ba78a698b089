import { defineResource } from '../../define.ts';
import type { Pod } from '../../facts/types/core-v1.ts';
import { podCells, podRowConditions } from './cells.ts';
import { defaultPod } from './defaults.ts';
import { prepareEphemeralUpdate, prepareNewPod, preparePodUpdate, prepareResize, prepareStatusUpdate } from './prepare.ts';
import { validateEphemeralUpdate, validateNewPod, validatePodUpdate, validateResize, validateStatusUpdate } from './validate.ts';
import { podWarnings } from './warnings.ts';

/**
 * Containers that run together on one node. Once made, little of it changes but through subresources: its status, its resources (/resize), and containers
 * for debugging (/ephemeralcontainers).
 */
export const pods = defineResource<Pod>('v1/pods', {
  default: defaultPod,

  makesStatus: true,
  // Claims, which the pod as a whole may not have at all.
  validatesSentEmpty: ({ spec }) => spec.resources !== undefined,
  prepareForCreate: prepareNewPod,
  prepareForUpdate: preparePodUpdate,
  validate: validateNewPod,
  validateUpdate: validatePodUpdate,
  warnings: podWarnings,

  deletion: { gracePeriodSeconds },

  subresources: {
    status: { update: { prepareForUpdate: prepareStatusUpdate, validateUpdate: validateStatusUpdate } },
    ephemeralcontainers: {
      hasNoTable: true,
      update: { prepareForUpdate: prepareEphemeralUpdate, validateUpdate: validateEphemeralUpdate },
    },
    resize: { hasNoTable: true, update: { prepareForUpdate: prepareResize, validateUpdate: validateResize } },
  },

  selectable: {
    'spec.nodeName': nodeName,
    // What the first v1 clients called it.
    'spec.host': nodeName,
    'spec.restartPolicy': ({ spec }) => spec.restartPolicy ?? '',
    'spec.schedulerName': ({ spec }) => spec.schedulerName ?? '',
    'spec.serviceAccountName': ({ spec }) => spec.serviceAccountName ?? '',
    'spec.hostNetwork': ({ spec }) => String(spec.hostNetwork ?? false),
    'status.phase': ({ status }) => status.phase ?? '',
    'status.podIP': ({ status }) => status.podIPs?.[0]?.ip ?? '',
    // Upstream knows the name, but gives it no value.
    'status.podIPs': () => '',
    'status.nominatedNodeName': ({ status }) => status.nominatedNodeName ?? '',
  },
  cells: podCells,
  table: { rowConditions: podRowConditions },
});

function nodeName({ spec }: Pod): string {
  return spec.nodeName ?? '';
}

/** A pod that no node runs, or that has ended, goes at once; a negative period means the shortest. */
function gracePeriodSeconds({ spec, status }: Pod, requested: number | undefined): number {
  if (!spec.nodeName || status.phase === 'Failed' || status.phase === 'Succeeded') return 0;
  const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}
