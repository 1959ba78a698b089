import type { ApiObject } from '../api/api-object.ts';
import { isJsonObject } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/* What a service account's token says of it (pkg/serviceaccount/claims.go). */

export interface ObjectClaim {
  name?: string;
  uid?: string;
}

export interface ServiceAccountClaims {
  aud: string[];
  exp: number;
  iat: number;
  iss: string;
  jti: string;
  'kubernetes.io': {
    namespace: string;
    node?: ObjectClaim;
    pod?: ObjectClaim;
    secret?: ObjectClaim;
    serviceaccount: ObjectClaim;
    /** Past this the token still holds, but its user should have fetched another. */
    warnafter?: number;
  };
  nbf: number;
  sub: string;
}

export interface TokenSubject {
  account: ApiObject;
  pod?: ApiObject | undefined;
  secret?: ApiObject | undefined;
  /** Of the pod, or by itself. One that is not known has no uid. */
  node?: ApiObject | undefined;
}

export interface TokenTerms {
  issuer: string;
  id: string;
  audiences: readonly string[];
  now: Date;
  lifetimeSeconds: number;
  /** 0: never. */
  warnAfterSeconds: number;
}

export const usernameOf = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`;

const claimOf = ({ metadata }: ApiObject): ObjectClaim => ({ name: metadata.name!, ...(metadata.uid && { uid: metadata.uid }) });

export function claimsFor(
  { account, pod, secret, node }: TokenSubject,
  { issuer, id, audiences, now, lifetimeSeconds, warnAfterSeconds }: TokenTerms,
): ServiceAccountClaims {
  const nowSeconds = Math.floor(now.getTime() / 1000);
  const { namespace = '', name = '' } = account.metadata;
  return {
    aud: [...audiences],
    exp: nowSeconds + lifetimeSeconds,
    iat: nowSeconds,
    iss: issuer,
    jti: id,
    'kubernetes.io': {
      namespace,
      ...(node && { node: claimOf(node) }),
      ...(pod && { pod: claimOf(pod) }),
      ...(secret && { secret: claimOf(secret) }),
      serviceaccount: claimOf(account),
      ...(warnAfterSeconds > 0 && { warnafter: nowSeconds + warnAfterSeconds }),
    },
    nbf: nowSeconds,
    sub: usernameOf(namespace, name),
  };
}

/** What is needed of a token's claims. Times are in seconds. */
export interface TokenFacts {
  issuer: string;
  id: string;
  audiences: readonly string[];
  notBefore: number | undefined;
  expiry: number | undefined;
  issuedAt: number | undefined;
  warnAfter: number | undefined;
  subject: string;
  namespace: string;
  account: Required<ObjectClaim>;
  pod: Required<ObjectClaim> | undefined;
  secret: Required<ObjectClaim> | undefined;
  node: Required<ObjectClaim> | undefined;
}

/** Undefined where the claims are not of this shape. */
export function readClaims(claims: JsonObject): TokenFacts | undefined {
  const bound = claims['kubernetes.io'];
  if (!isJsonObject(bound) || ![claims.nbf, claims.exp, claims.iat].every(isTime)) return undefined;
  const account = objectClaim(bound.serviceaccount);
  if (!account) return undefined;
  return {
    issuer: text(claims.iss),
    id: text(claims.jti),
    audiences: texts(claims.aud),
    namespace: text(bound.namespace),
    account,
    notBefore: claims.nbf as number | undefined,
    expiry: claims.exp as number | undefined,
    issuedAt: claims.iat as number | undefined,
    warnAfter: typeof bound.warnafter === 'number' ? bound.warnafter : undefined,
    subject: text(claims.sub),
    pod: objectClaim(bound.pod),
    secret: objectClaim(bound.secret),
    node: objectClaim(bound.node),
  };
}

const isTime = (value: Json | undefined): boolean => value === undefined || typeof value === 'number';
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const texts = (value: Json | undefined): string[] => (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');
const objectClaim = (value: Json | undefined): Required<ObjectClaim> | undefined =>
  isJsonObject(value) ? { name: text(value.name), uid: text(value.uid) } : undefined;
