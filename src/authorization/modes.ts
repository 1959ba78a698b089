import type { Client } from '../client/client.ts';
import { loadKubeconfig } from '../client/kubeconfig.ts';
import { type RetryOptions, WebhookClient } from '../client/webhook-client.ts';
import type { AuthorizationAttributes, Decision } from '../api/authorization.ts';
import { SYSTEM_PRIVILEGED_GROUP } from '../api/user.ts';
import type { Authorizer, UserRules } from '../registry/authorizer.ts';
import type { WeakCertificateListener } from '../serving/weak-certificates.ts';
import type { Dial } from '../net/dial.ts';
import { loadAbacFile } from './abac.ts';
import type { AuthorizationMode, AuthorizerConfiguration, WebhookConfiguration } from './authorization-configuration.ts';
import type { ConditionCompiler } from './match-conditions.ts';
import type { AuthorizationMetrics } from './metrics.ts';
import { createNodeAuthorizer } from './node.ts';
import { type RbacAuthorizer, type RuleGrant, createRbacAuthorizer } from './rbac.ts';
import { unionOfAuthorizers } from './union.ts';
import { authorizationWebhook } from './webhook.ts';

export interface AuthorizerFilesOptions {
  /** `--authorization-policy-file`, where ABAC is among the modes. */
  policyFile: string;
  compile: ConditionCompiler;
  warn(message: string): void;
  metrics?: AuthorizationMetrics;
  /** The way to webhooks; absent: directly. */
  dial?: Dial | undefined;
  onWeakCertificate?: WeakCertificateListener;
  retry?: RetryOptions;
}

/** The chain of authorizers, with all that comes from files: what is left to do needs the stores. */
export interface PreparedAuthorizers {
  chain: readonly { type: AuthorizationMode; name: string; fromFile: Authorizer | undefined }[];
  /** Ends the connections of webhooks. */
  close(): void;
}

/** Throws where a file cannot be read or used. */
export async function prepareAuthorizers(authorizers: readonly AuthorizerConfiguration[], options: AuthorizerFilesOptions): Promise<PreparedAuthorizers> {
  const clients: WebhookClient[] = [];
  const fromFile = async ({ type, name, webhook }: AuthorizerConfiguration): Promise<Authorizer | undefined> => {
    if (type === 'ABAC') return loadAbacFile(options.policyFile, (message) => options.warn(message));
    if (!webhook) return undefined;
    const { dial, onWeakCertificate } = options;
    const client = new WebhookClient(await loadKubeconfig(webhook.kubeConfigFile), { timeoutMs: webhook.timeoutMs, dial, onWeakCertificate });
    clients.push(client);
    return webhookFor(name, webhook, client, options);
  };
  const chain = await Promise.all(
    authorizers.map(async (authorizer) => ({ type: authorizer.type, name: authorizer.name, fromFile: await fromFile(authorizer) })),
  );
  return { chain, close: () => clients.forEach((client) => client.close()) };
}

const webhookFor = (name: string, webhook: WebhookConfiguration, client: WebhookClient, { compile, metrics, retry }: AuthorizerFilesOptions): Authorizer =>
  authorizationWebhook({
    client,
    version: webhook.subjectAccessReviewVersion,
    authorizedTtlMs: webhook.authorizedTtlMs,
    unauthorizedTtlMs: webhook.unauthorizedTtlMs,
    onFailure: webhook.failurePolicy === 'Deny' ? 'deny' : 'noOpinion',
    conditions: webhook.matchConditions.map(compile),
    metrics: metrics?.webhook(name),
    ...(retry && { retry }),
  });

export interface AuthorizationOptions {
  client: Client;
  isEnabled(gate: string): boolean;
  metrics?: AuthorizationMetrics | undefined;
}

/** What one authorizer of the chain says of a request. */
export interface AuthorizerOpinion extends Decision {
  /** `RBAC`, `Node`, …; `system:masters` for the group that may do everything. */
  mode: string;
  name: string;
  /** Of RBAC, where it allows. */
  grant?: RuleGrant | undefined;
}

export interface Authorization {
  authorizer: Authorizer;
  /** What each authorizer says, up to the one that decides. */
  explain(attributes: AuthorizationAttributes): Promise<AuthorizerOpinion[]>;
  /** Kept in every mode: escalation checks ask it. */
  rbac: RbacAuthorizer;
  /** Resolves once all that is stored is known; until then users are refused. */
  synced: Promise<void>;
  /** Puts another chain in the place of this one. Throws, and changes nothing, where it is not one of the same modes, but for webhooks. */
  replace(prepared: PreparedAuthorizers): void;
  close(): void;
}

const ALLOW: Decision = { decision: 'allow', reason: '' };
const DENY: Decision = { decision: 'noOpinion', reason: 'Everything is forbidden.' };
const NO_OPINION: Decision = { decision: 'noOpinion', reason: '' };
const NO_RULES: UserRules = { resourceRules: [], nonResourceRules: [], isIncomplete: false };
const ALL_RULES: UserRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  isIncomplete: false,
};

/** `--authorization-mode=AlwaysAllow` */
const alwaysAllow: Authorizer = { authorize: () => ALLOW, rulesFor: () => ALL_RULES };

/** `--authorization-mode=AlwaysDeny`: no opinion rather than a denial, as upstream, so that it can stand before other modes. */
const alwaysDeny: Authorizer = { authorize: () => DENY, rulesFor: () => NO_RULES };

/** Members of system:masters may do everything, whatever the modes say. It names no rules: upstream leaves it out of rules reviews. */
const privilegedGroups: Authorizer = {
  authorize: ({ user }) => (user.groups.includes(SYSTEM_PRIVILEGED_GROUP) ? ALLOW : NO_OPINION),
  rulesFor: () => NO_RULES,
};

/** How long requests that came before a change may still ask the webhooks of the old chain. */
const OLD_WEBHOOKS_MS = 60_000;

/** system:masters first, then the chain in its order. */
export function createAuthorization(prepared: PreparedAuthorizers, { client, isEnabled, metrics }: AuthorizationOptions): Authorization {
  const rbac = createRbacAuthorizer(client);
  const modes = new Set(prepared.chain.map(({ type }) => type));
  const node = modes.has('Node') ? createNodeAuthorizer({ client, isEnabled, ...(metrics && { observeGraph: metrics.graphChanged }) }) : undefined;
  const kept: Partial<Record<AuthorizationMode, Authorizer>> = { AlwaysAllow: alwaysAllow, AlwaysDeny: alwaysDeny, RBAC: rbac, ...(node && { Node: node }) };
  const count = (authorizer: Authorizer, type: string, name: string): Authorizer => metrics?.counted(authorizer, type, name) ?? authorizer;
  const members = ({ chain }: PreparedAuthorizers): NamedAuthorizer[] => [
    { mode: SYSTEM_PRIVILEGED_GROUP, name: '', authorizer: privilegedGroups },
    ...chain.map(({ type, name, fromFile }) => ({ mode: type, name, authorizer: count(fromFile ?? kept[type]!, type, name) })),
  ];
  const build = (from: PreparedAuthorizers): Authorizer => unionOfAuthorizers(members(from).map(({ authorizer }) => authorizer));
  let current = { authorizer: build(prepared), prepared };
  return {
    authorizer: {
      authorize: (attributes) => current.authorizer.authorize(attributes),
      rulesFor: (user, namespace) => current.authorizer.rulesFor(user, namespace),
    },
    explain: (attributes) => opinionsOf(members(current.prepared), rbac, attributes),
    rbac,
    synced: Promise.all([rbac.synced, node?.synced]).then(() => undefined),
    replace(next) {
      checkModes(modes, new Set(next.chain.map(({ type }) => type)));
      const old = current.prepared;
      current = { authorizer: build(next), prepared: next };
      setTimeout(() => old.close(), OLD_WEBHOOKS_MS).unref();
    },
    close: () => current.prepared.close(),
  };
}

interface NamedAuthorizer {
  mode: string;
  name: string;
  authorizer: Authorizer;
}

async function opinionsOf(authorizers: readonly NamedAuthorizer[], rbac: RbacAuthorizer, attributes: AuthorizationAttributes): Promise<AuthorizerOpinion[]> {
  const opinions: AuthorizerOpinion[] = [];
  for (const { mode, name, authorizer } of authorizers) {
    const decision = await authorizer.authorize(attributes);
    opinions.push({ mode, name, ...decision, ...(mode === 'RBAC' && decision.decision === 'allow' && { grant: rbac.grantOf(attributes) }) });
    if (decision.decision !== 'noOpinion') break;
  }
  return opinions;
}

/** Modes that know the stores are set up at start, and a file that no longer names one is more likely a slip than a wish (kubeapiserver/authorizer/reload.go). */
function checkModes(initial: ReadonlySet<AuthorizationMode>, next: ReadonlySet<AuthorizationMode>): void {
  const missing = [...initial].filter((type) => type !== 'Webhook' && !next.has(type));
  if (missing.length > 0) throw new Error(`missing required types: [${missing.toSorted().join(' ')}]`);
  for (const type of ['Node', 'ABAC', 'RBAC'] as const)
    if (next.has(type) && !initial.has(type)) throw new Error(`authorizer type ${type} is not allowed if it was not enabled at initial server startup`);
}
