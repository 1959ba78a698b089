import { localSubjectAccessReview, selfSubjectAccessReview, selfSubjectRulesReview, subjectAccessReview } from '../apis/authorization/access-reviews.ts';
import { type TokenReader, selfSubjectReview, tokenReview } from '../apis/authentication/reviews.ts';
import { type IsServed, builtInApiVersions } from '../apis/api-versions.ts';
import { defineResource } from '../apis/define.ts';
import type { Pod } from '../apis/facts/types/core-v1.ts';
import type { Handler } from '../endpoints/request.ts';
import type { EndpointEnvironment } from '../endpoints/target.ts';
import type { Authorizer } from '../registry/authorizer.ts';
import type { ResourceStore } from '../registry/store.ts';
import { GenericServer } from '../server/generic-server.ts';
import type { InProcessClient } from '../server/in-process-client.ts';
import type { Stores } from '../server/stores.ts';
import { type ActionOptions, withKubeActions } from './actions/actions.ts';
import { formerBinding } from './actions/binding.ts';
import { type BootstrapOptions, type ServerRecords, bootstrapHooks } from './bootstrap/hooks.ts';
import { type KindOptions, kubeKinds } from './kinds.ts';

export interface KubeOptions {
  environment: EndpointEnvironment;
  stores: Stores;
  client: InProcessClient;
  authorizer: Authorizer;
  readToken: TokenReader;
  bootstrap: BootstrapOptions;
  records: ServerRecords;
  componentStatuses: ResourceStore;
  isServed: IsServed;
  /** Whether the servers behind it may serve what its groups lack: versions of other releases. */
  isPartial: boolean;
  /** Whether a feature gate is on. */
  isEnabled(gate: string): boolean;
}

/** The middle of the chain: every built-in group but the two that the other servers own. */
export function createKube(options: KubeOptions, stores: readonly ResourceStore[], delegate: Handler): GenericServer {
  const server = new GenericServer('kube', options.environment, delegate, ...(options.isPartial ? [delegate] : []));
  for (const version of builtInApiVersions([...stores, ...reviewStores(options), formerBindings(options, stores), options.componentStatuses], options.isServed))
    server.install(version);
  const hooks = bootstrapHooks(options.client, options.bootstrap, options.records);
  server.postStartHooks.push(...hooks.postStart);
  server.preShutdownHooks.push(...hooks.preShutdown);
  return server;
}

export const openKubeStores = (stores: Stores, kinds: KindOptions, actions: ActionOptions): ResourceStore[] =>
  kubeKinds(kinds)
    .map(withKubeActions(actions))
    .map((definition) => stores.open(definition));

/** Questions that the API answers without keeping them. */
function reviewStores({ stores, authorizer, readToken }: KubeOptions): ResourceStore[] {
  return [
    stores.review(defineResource('authorization.k8s.io/v1/subjectaccessreviews'), subjectAccessReview(authorizer)),
    stores.review(defineResource('authorization.k8s.io/v1/localsubjectaccessreviews'), localSubjectAccessReview(authorizer)),
    stores.review(defineResource('authorization.k8s.io/v1/selfsubjectaccessreviews'), selfSubjectAccessReview(authorizer)),
    stores.review(defineResource('authorization.k8s.io/v1/selfsubjectrulesreviews'), selfSubjectRulesReview(authorizer)),
    stores.review(defineResource('authentication.k8s.io/v1/selfsubjectreviews'), selfSubjectReview),
    stores.review(defineResource('authentication.k8s.io/v1/tokenreviews'), tokenReview(readToken)),
  ];
}

function formerBindings({ stores, environment, isEnabled }: KubeOptions, kept: readonly ResourceStore[]): ResourceStore {
  const pods = kept.find(({ definition }) => definition.group === '' && definition.plural === 'pods') as unknown as ResourceStore<Pod>;
  return stores.review(defineResource('v1/bindings'), formerBinding(pods, { isEnabled, now: environment.now }));
}
