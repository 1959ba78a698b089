import { type KeyObject, hash } from 'node:crypto';
import type { Client } from '../client/client.ts';
import type { Authentication } from '../server/authenticator.ts';
import type { ApiObject } from '../util/api-object.ts';
import { notFound } from '../util/errors.ts';
import { quote } from '../util/field-errors.ts';
import type { User } from '../util/user.ts';
import { keyId, parseJwt } from './jwt.ts';
import { type TokenFacts, readClaims, usernameOf } from './service-account-claims.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

export interface ServiceAccountTokenOptions {
  /** Whose tokens are taken for ours. */
  issuers: readonly string[];
  /** Of all that may have signed; may still be in the making. */
  publicKeys: Promise<readonly KeyObject[]>;
  apiAudiences: readonly string[];
  client: Client;
  now(): Date;
}

/** Clocks may differ by this much (go-jose's DefaultLeeway). */
const LEEWAY_SECONDS = 60;
/** Tokens whose signature is known to be good; beyond this many, the oldest is checked anew when it comes again. */
const MAX_VERIFIED = 4096;
/** Longer ones are nobody's: headers end not far beyond. */
const MAX_TOKEN_LENGTH = 64 * 1024;

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
  readonly #verified = new Map<string, Verified>();
  #keys: ReadonlyMap<string, KeyObject> | undefined;

  constructor(options: ServiceAccountTokenOptions) {
    this.#options = options;
  }

  authenticateToken(token: string, audiences?: readonly string[]): Authentication | undefined | Promise<Authentication | undefined> {
    if (token.length > MAX_TOKEN_LENGTH || !token.includes('.')) return undefined;
    const digest = hash('sha256', token, 'base64');
    const known = this.#verified.get(digest);
    if (known) return this.#accept(known, audiences);
    const jwt = parseJwt(token);
    if (!jwt || typeof jwt.claims.iss !== 'string' || !this.#options.issuers.includes(jwt.claims.iss)) return undefined;
    const verify = (keys: ReadonlyMap<string, KeyObject>) => {
      const candidates = typeof jwt.header.kid === 'string' && jwt.header.kid !== '' ? [keys.get(jwt.header.kid)] : [...keys.values()];
      const usable = candidates.filter((key) => key !== undefined);
      if (usable.length === 0) throw new Error('invalid signature, no keys found');
      if (!usable.some((key) => jwt.isSignedBy(key))) throw new Error('go-jose/go-jose: error in cryptographic primitive');
      const facts = readClaims(jwt.claims);
      if (!facts) throw new Error('service account token claims could not be validated due to unexpected validation error');
      const verified: Verified = { facts, user: userOf(facts), forApi: undefined };
      this.#remember(digest, verified);
      return this.#accept(verified, audiences);
    };
    return this.#keys ? verify(this.#keys) : this.#loadKeys().then(verify);
  }

  async #loadKeys(): Promise<ReadonlyMap<string, KeyObject>> {
    const keys = await this.#options.publicKeys;
    this.#keys = new Map(keys.map((key) => [keyId(key), key]));
    return this.#keys;
  }

  #remember(digest: string, verified: Verified): void {
    if (this.#verified.size >= MAX_VERIFIED) this.#verified.delete(this.#verified.keys().next().value!);
    this.#verified.set(digest, verified);
  }

  #accept(verified: Verified, audiences: readonly string[] | undefined): Authentication | Promise<Authentication> {
    const { facts } = verified;
    const shared = this.#sharedAudiences(facts, audiences ?? this.#options.apiAudiences);
    const nowMs = this.#options.now().getTime();
    checkTimes(facts, nowMs / 1000);
    const accept = (bound: Bound): Authentication => {
      checkBound(facts, bound, nowMs);
      if (audiences !== undefined) return { user: verified.user, audiences: shared };
      return (verified.forApi ??= { user: verified.user, audiences: shared });
    };
    const bound = this.#boundObjects(facts);
    return bound instanceof Promise ? bound.then(accept) : accept(bound);
  }

  /** Tokens from before audiences are for this API only. */
  #sharedAudiences({ audiences }: TokenFacts, wanted: readonly string[]): string[] {
    const { apiAudiences } = this.#options;
    const meant = audiences.length > 0 ? audiences : apiAudiences;
    const shared = meant.filter((audience) => wanted.includes(audience));
    if (shared.length === 0 && apiAudiences.length > 0)
      throw new Error(`token audiences ${quoted(meant)} is invalid for the target audiences ${quoted(wanted)}`);
    return shared;
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

const quoted = (texts: readonly string[]): string => `[${texts.map(quote).join(' ')}]`;

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
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return { name: usernameOf(namespace, account.name), uid: account.uid, groups, ...(Object.keys(extra).length > 0 && { extra }) };
}
