import type { GroupResource } from '../../api/api-object.ts';

/** `secrets`, `deployments.apps`, `*.apps`, `*.` (the core group) or `*.*`, read as apimachinery's ParseGroupResource does. */
export type ResourcePattern = GroupResource;

export function parseResource(text: string): ResourcePattern {
  const dot = text.indexOf('.');
  return dot === -1 ? { group: '', resource: text } : { group: text.slice(dot + 1), resource: text.slice(0, dot) };
}

/** How a configuration would write it. */
export const printResource = ({ group, resource }: ResourcePattern): string => {
  if (group === '') return resource === '*' ? '*.' : resource;
  return `${resource}.${group}`;
};
