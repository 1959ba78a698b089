import type { ServiceAccountTokenMetrics } from './metrics.ts';
import type { Client } from '../client/client.ts';
import type { Authentication } from '../server/authenticator.ts';
import type { ApiObject } from '../api/api-object.ts';
import { notFound } from '../api/errors.ts';
import { quote } from '../util/go-quote.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { type User, serviceAccountGroups } from '../api/user.ts';
import { type TokenFacts, readClaims, usernameOf } from './service-account-claims.ts';
import type { PublicKeySource } from './public-keys.ts';
import { SignedTokens } from './signed-tokens.ts';
import type { TokenAuthenticator, TokenContext } from './token-authenticator.ts';

export interface ServiceAccountTokenOptions {
  /** Whose tokens are taken for ours. */
  issuers: readonly string[];
  publicKeys: PublicKeySource;
  apiAudiences: readonly string[];
  client: Client;
  now(): Date;
  /** Absent where nothing is counted. */
  metrics?: ServiceAccountTokenMetrics;
}

/** Clocks may differ by this much (go-jose's DefaultLeeway). */
const LEEWAY_SECONDS = 60;

interface Verified {
  facts: TokenFacts;
  user: User;
  /** For requests to this API, and so the same object for all of them. */
  forApi: Authentication | undefined;
}

/** What a token depends on, as it is now. */
interface Bound {
  account: ApiObject | undefined;
  secret: ApiObject | undefined;
  pod: ApiObject | undefined;
  node: ApiObject | undefined;
}

/**
 * Tokens that TokenRequest has issued (pkg/serviceaccount/jwt.go and claims.go). A signature is checked once; time, audience, the account and what the
 * token is bound to are checked at every use, so that a token ends with its pod.
 */
export class ServiceAccountTokens implements TokenAuthenticator {
  readonly #options: ServiceAccountTokenOptions;
  readonly #tokens: SignedTokens<Verified>;

  constructor(options: ServiceAccountTokenOptions) {
    this.#options = options;
    this.#tokens = new SignedTokens({ ...options, read: ({ claims }) => verifiedOf(claims) });
  }

  authenticateToken(token: string, audiences?: readonly string[], context?: TokenContext): Authentication | undefined | Promise<Authentication | undefined> {
    const verified = this.#tokens.verified(token);
    if (verified === undefined) return undefined;
    return verified instanceof Promise ? verified.then((late) => this.#accept(late, audiences, context)) : this.#accept(verified, audiences, context);
  }

  #accept(verified: Verified, audiences: readonly string[] | undefined, context: TokenContext | undefined): Authentication | Promise<Authentication> {
    const { facts } = verified;
    const shared = sharedAudiences(facts.audiences, audiences, this.#options.apiAudiences);
    const nowMs = this.#options.now().getTime();
    checkTimes(facts, nowMs / 1000);
    const accept = (bound: Bound): Authentication => {
      checkBound(facts, bound, nowMs);
      const isStale = tellIfStale(facts, nowMs / 1000, context);
      this.#options.metrics?.bound(isStale);
      if (audiences !== undefined) return { user: verified.user, audiences: shared };
      return (verified.forApi ??= { user: verified.user, audiences: shared });
    };
    const bound = this.#boundObjects(facts);
    return bound instanceof Promise ? bound.then(accept) : accept(bound);
  }

  /** Synchronous where all is at hand. What is missing may have come through another server a moment ago, so the store itself is asked. */
  #boundObjects({ namespace, account, secret, pod, node }: TokenFacts): Bound | Promise<Bound> {
    const { client } = this.#options;
    const wanted = [
      { name: 'account', plural: 'serviceaccounts', namespace, claim: account },
      { name: 'secret', plural: 'secrets', namespace, claim: secret },
      { name: 'pod', plural: 'pods', namespace, claim: pod },
      // A pod's node is told along, and not looked after.
      { name: 'node', plural: 'nodes', namespace: '', claim: pod ? undefined : node },
    ] as const;
    const bound: Bound = { account: undefined, secret: undefined, pod: undefined, node: undefined };
    const late: Promise<unknown>[] = [];
    for (const { name, plural, namespace: scope, claim } of wanted) {
      if (!claim || claim.name === '') continue;
      const resource = client.resource('', plural);
      bound[name] = resource.informer.get(scope, claim.name);
      if (!bound[name]) late.push(resource.get(scope, claim.name).then((object) => (bound[name] = object)));
    }
    return late.length === 0 ? bound : Promise.all(late).then(() => bound);
  }
}

function verifiedOf(claims: JsonObject): Verified {
  const facts = readClaims(claims);
  if (!facts) throw new Error('service account token claims could not be validated due to unexpected validation error');
  return { facts, user: userOf(facts), forApi: undefined };
}

/** Whom of `wanted` (this API where absent), in its order, a token is meant for. Tokens from before audiences are for this API only. */
export function sharedAudiences(tokenAudiences: readonly string[], wanted: readonly string[] | undefined, apiAudiences: readonly string[]): string[] {
  const meant = tokenAudiences.length > 0 ? tokenAudiences : apiAudiences;
  const asked = wanted ?? apiAudiences;
  const shared = asked.filter((audience) => meant.includes(audience));
  if (shared.length === 0 && apiAudiences.length > 0) throw new Error(`token audiences ${quoted(meant)} is invalid for the target audiences ${quoted(asked)}`);
  return shared;
}

const quoted = (texts: readonly string[]): string => `[${texts.map(quote).join(' ')}]`;

/** Such a token still holds for a year, so that clients that never read theirs again go on working; whoever runs the cluster should learn of them. */
function tellIfStale({ warnAfter, subject }: TokenFacts, nowSeconds: number, context: TokenContext | undefined): boolean {
  if (!warnAfter || nowSeconds <= warnAfter) return false;
  const overdueSeconds = Math.floor(nowSeconds) - warnAfter;
  context?.annotateAudit('authentication.k8s.io/stale-token', `subject: ${subject}, seconds after warning threshold: ${overdueSeconds}`);
  return true;
}

function checkTimes({ notBefore, expiry, issuedAt }: TokenFacts, nowSeconds: number): void {
  if (notBefore !== undefined && nowSeconds + LEEWAY_SECONDS < notBefore) throw new Error('service account token is not valid yet');
  if (expiry !== undefined && nowSeconds - LEEWAY_SECONDS > expiry) throw new Error('service account token has expired');
  if (issuedAt !== undefined && nowSeconds + LEEWAY_SECONDS < issuedAt) throw new Error('service account token is issued in the future');
}

const INVALIDATED = 'service account token has been invalidated';

function checkBound(facts: TokenFacts, bound: Bound, nowMs: number): void {
  const { namespace, account } = facts;
  if (!bound.account) throw notFound({ group: '', resource: 'serviceaccounts' }, account.name);
  const { uid = '' } = bound.account.metadata;
  if (uid !== account.uid) throw new Error(`service account UID (${uid}) does not match claim (${account.uid})`);
  if (isDeleted(bound.account, nowMs)) throw new Error(`service account ${namespace}/${account.name} has been deleted`);
  for (const kind of ['secret', 'pod', 'node'] as const) {
    const claim = facts[kind];
    if (!claim || (kind === 'node' && facts.pod)) continue;
    const object = bound[kind];
    if (!object) throw new Error(INVALIDATED);
    if (object.metadata.uid !== claim.uid)
      throw new Error(`${kind} UID (${object.metadata.uid}) does not match service account ${kind} ref claim (${claim.uid})`);
    if (isDeleted(object, nowMs)) throw new Error(INVALIDATED);
  }
}

const isDeleted = ({ metadata }: ApiObject, nowMs: number): boolean =>
  metadata.deletionTimestamp !== undefined && Date.parse(metadata.deletionTimestamp) < nowMs - LEEWAY_SECONDS * 1000;

/** apiserver/pkg/authentication/serviceaccount/util.go */
function userOf({ namespace, account, pod, node, id }: TokenFacts): User {
  const extra: Record<string, string[]> = {};
  const add = (key: string, value: string | undefined): void => {
    if (value) extra[`authentication.kubernetes.io/${key}`] = [value];
  };
  add('credential-id', id && `JTI=${id}`);
  add('node-name', node?.name);
  add('node-uid', node?.name && node.uid);
  if (pod?.name && pod.uid) {
    add('pod-name', pod.name);
    add('pod-uid', pod.uid);
  }
  return {
    name: usernameOf(namespace, account.name),
    uid: account.uid,
    groups: serviceAccountGroups(namespace),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}
