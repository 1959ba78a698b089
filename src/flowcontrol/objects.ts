import type { ApiObject } from '../api/api-object.ts';

/* FlowSchema and PriorityLevelConfiguration (flowcontrol.apiserver.k8s.io/v1), as far as they are read here. Validation has seen them. */

export interface FlowSchema extends ApiObject {
  spec: FlowSchemaSpec;
}

export interface FlowSchemaSpec {
  priorityLevelConfiguration: { name: string };
  matchingPrecedence: number;
  distinguisherMethod?: { type: string };
  rules?: FlowSchemaRule[];
}

export interface FlowSchemaRule {
  subjects: FlowSubject[] | null;
  resourceRules?: FlowResourceRule[];
  nonResourceRules?: FlowNonResourceRule[];
}

export interface FlowSubject {
  kind: string;
  user?: { name: string };
  group?: { name: string };
  serviceAccount?: { namespace: string; name: string };
}

export interface FlowResourceRule {
  verbs: string[] | null;
  apiGroups: string[] | null;
  resources: string[] | null;
  clusterScope?: boolean;
  namespaces: string[] | null;
}

export interface FlowNonResourceRule {
  verbs: string[] | null;
  nonResourceURLs: string[] | null;
}

export interface PriorityLevelConfiguration extends ApiObject {
  spec: PriorityLevelSpec;
}

export interface PriorityLevelSpec {
  type: string;
  limited?: LimitedSpec;
  exempt?: { nominalConcurrencyShares?: number; lendablePercent?: number };
}

interface LimitedSpec {
  nominalConcurrencyShares: number | null;
  lendablePercent?: number;
  borrowingLimitPercent?: number;
  limitResponse: { type: string; queuing?: QueuingSpec };
}

export interface QueuingSpec {
  queues: number;
  handSize: number;
  queueLengthLimit: number;
}

export const GROUP = 'flowcontrol.apiserver.k8s.io';
export const API_VERSION = `${GROUP}/v1`;
export const EXEMPT = 'exempt';
export const CATCH_ALL = 'catch-all';
