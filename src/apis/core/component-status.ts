import { defineResource } from '../define.ts';
import type { ComponentStatus } from '../facts/types/core-v1.ts';

const HEALTHY = 'Healthy';

/** How the parts of a control plane on this machine are: asked when a client asks, and never kept. */
export const componentStatuses = defineResource<ComponentStatus>('v1/componentstatuses', {
  deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
  cells: {
    Status: (component) => {
      const condition = healthOf(component);
      if (!condition) return 'Unknown';
      return condition.status === 'True' ? HEALTHY : 'Unhealthy';
    },
    Message: (component) => healthOf(component)?.message ?? '',
    Error: (component) => healthOf(component)?.error ?? '',
  },
});

const healthOf = ({ conditions = [] }: ComponentStatus) => conditions.find(({ type }) => type === HEALTHY);
