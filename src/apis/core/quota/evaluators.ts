import { type GroupResource, qualifiedResource } from '../../../api/api-object.ts';
import type { KindSettings } from '../../../registry/write.ts';
import { DEFAULT_SETTINGS } from '../../features.ts';
import { type Evaluator, objectCounter } from './evaluator.ts';
import { podEvaluator } from './pod-evaluator.ts';
import { resourceClaimEvaluator } from './resource-claim-evaluator.ts';
import { serviceEvaluator } from './service-evaluator.ts';
import { volumeClaimEvaluator } from './volume-claim-evaluator.ts';

/** Not stored, or never counted (pkg/quota/v1/install). */
const NOT_COUNTED = new Set([
  'bindings',
  'componentstatuses',
  'tokenreviews.authentication.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
  'events',
  'events.events.k8s.io',
]);

/** Core resources whose bare name a quota may count by. */
const LEGACY_COUNTS = ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'];

/** Finds what measures a resource's objects, as a server with these settings does: undefined where nothing does. All but a few are only counted. */
export function createEvaluators(now: () => Date, settings: KindSettings = DEFAULT_SETTINGS): (resource: GroupResource) => Evaluator | undefined {
  const known = new Map<string, Evaluator | undefined>([
    ...[...NOT_COUNTED].map((name) => [name, undefined] as const),
    ['pods', podEvaluator(now, settings)],
    ['services', serviceEvaluator],
    ['persistentvolumeclaims', volumeClaimEvaluator(settings)],
    ['resourceclaims.resource.k8s.io', resourceClaimEvaluator],
    ...LEGACY_COUNTS.map((resource) => [resource, objectCounter({ group: '', resource }, resource)] as const),
  ]);
  return (resource) => {
    const name = qualifiedResource(resource);
    if (!known.has(name)) known.set(name, objectCounter({ group: resource.group, resource: resource.resource }));
    return known.get(name);
  };
}
