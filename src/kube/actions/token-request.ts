import { randomUUID } from 'node:crypto';
import type { SubresourceAction } from '../../apis/define.ts';
import type { BoundObjectReference, TokenRequest } from '../../apis/facts/types/authentication-v1.ts';
import type { Pod } from '../../apis/facts/types/core-v1.ts';
import { type TokenSubject, claimsFor } from '../../authentication/service-account-claims.ts';
import type { Client } from '../../client/client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { badRequest, conflict, internalError, invalid, notFound } from '../../api/errors.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { timeOf } from '../../util/time.ts';

export interface TokenIssuerOptions {
  issuer: string;
  /** The whole token. What it throws is told to whoever asked for one. */
  sign(this: void, claims: object, signal: AbortSignal | undefined): Promise<string>;
  apiAudiences: readonly string[];
  /** --service-account-max-token-expiration; 0: no limit. */
  maxLifetimeSeconds: number;
  /** --service-account-extend-token-expiration: for how long pods' tokens hold really; 0 where for no longer than asked for. */
  extendedLifetimeSeconds: number;
}

const DEFAULT_LIFETIME_SECONDS = 3600;
const MIN_LIFETIME_SECONDS = 600;
const MAX_LIFETIME_SECONDS = 2 ** 32;
/** What admission asks for in the volume of every pod: by this number its tokens are known. */
const INJECTED_LIFETIME_SECONDS = 3607;
const TOKEN_REQUEST = { group: 'authentication.k8s.io', kind: 'TokenRequest' };

const UID_MISMATCH = 'authentication.k8s.io/token-request-uid-mismatch';

export interface TokenRequestOptions {
  client: Client;
  /** Whether a feature gate is on. */
  isEnabled(gate: string): boolean;
  now(): Date;
}

/** POST serviceaccounts/token (pkg/registry/core/serviceaccount/storage/token.go). */
export const tokenRequest = (issuer: TokenIssuerOptions, { client, isEnabled, now }: TokenRequestOptions): SubresourceAction => ({
  default(body) {
    (body as TokenRequest).spec.expirationSeconds ??= DEFAULT_LIFETIME_SECONDS;
  },
  async create({ namespace, name, body, context, store, admit }) {
    const request = body as TokenRequest;
    checkName(request, name);
    const account = (await store.get(namespace, name, '')).object();
    const issuedAt = now();
    checkUid(request, account, isEnabled('TokenRequestServiceAccountUIDValidation') ? undefined : (why) => context.annotateAudit(UID_MISMATCH, why));
    fillIn(request, account, issuer, issuedAt);
    validateSpec(request);
    await admit();
    const subject = { account, ...(await boundObjects(client, request.spec.boundObjectRef, account)) };
    const { lifetimeSeconds, warnAfterSeconds } = lifetimeOf(request, issuer, subject, (text) => context.warn(text));
    const id = randomUUID();
    const terms = { issuer: issuer.issuer, id, audiences: request.spec.audiences!, now: issuedAt, lifetimeSeconds, warnAfterSeconds };
    const token = await issueToken(issuer, claimsFor(subject, terms), context.signal);
    context.annotateAudit('authentication.kubernetes.io/issued-credential-id', `JTI=${id}`);
    const expiresAt = new Date(issuedAt.getTime() + request.spec.expirationSeconds! * 1000);
    return { ...request, status: { token, expirationTimestamp: timeOf(expiresAt) } } as TokenRequest;
  },
});

function checkName({ metadata }: TokenRequest, name: string): void {
  if (!metadata.name || metadata.name === name) return;
  const errors = new FieldErrors();
  errors.at('metadata', 'name').invalid(metadata.name, 'must match the service account name if specified');
  throw invalid(TOKEN_REQUEST, name, errors.list);
}

/** A request for an account that was made anew is refused, or only noted. */
function checkUid({ metadata: { uid } }: TokenRequest, { metadata: account }: ApiObject, note: ((why: string) => void) | undefined): void {
  if (!uid || uid === account.uid) return;
  const why = `the UID in the token request (${uid}) does not match the UID of the service account (${account.uid})`;
  if (!note) throw conflict({ group: TOKEN_REQUEST.group, resource: TOKEN_REQUEST.kind }, account.name!, why);
  note(why);
}

function fillIn(request: TokenRequest, { metadata: account }: ApiObject, { apiAudiences }: TokenIssuerOptions, issuedAt: Date): void {
  const { metadata, spec } = request;
  request.metadata = { ...metadata, name: account.name!, namespace: account.namespace!, uid: account.uid!, creationTimestamp: timeOf(issuedAt) };
  if ((spec.audiences ?? []).length === 0) spec.audiences = [...apiAudiences];
}

function validateSpec({ spec }: TokenRequest): void {
  const errors = new FieldErrors();
  const at = errors.at('spec', 'expirationSeconds');
  const seconds = spec.expirationSeconds!;
  if (seconds < MIN_LIFETIME_SECONDS) at.invalid(seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > MAX_LIFETIME_SECONDS) at.invalid(seconds, 'may not specify a duration larger than 2^32 seconds');
  if (!errors.isEmpty) throw invalid(TOKEN_REQUEST, '', errors.list);
}

/** What the token is to end with, and its node. */
async function boundObjects(client: Client, reference: BoundObjectReference | null, account: ApiObject): Promise<Omit<TokenSubject, 'account'>> {
  if (!reference) return {};
  const { namespace = '', name: accountName = '' } = account.metadata;
  const { apiVersion = '', kind = '', name = '', uid } = reference;
  const slash = apiVersion.indexOf('/');
  const [group, version] = slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  const find = async (plural: string, scope: string): Promise<ApiObject> => {
    const object = await client.resource('', plural).get(scope, name);
    if (!object) throw notFound({ group: '', resource: plural }, name);
    return object;
  };
  const checked = <T extends ApiObject>(object: T): T => {
    if (uid && uid !== object.metadata.uid) {
      throw conflict(
        { group, resource: kind },
        name,
        `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    }
    return object;
  };
  if (group === '' && kind === 'Secret') return { secret: checked(await find('secrets', namespace)) };
  if (group === '' && kind === 'Node') return { node: checked(await find('nodes', '')) };
  if (group !== '' || kind !== 'Pod') throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  const pod = (await find('pods', namespace)) as Pod;
  if (pod.spec.serviceAccountName !== accountName)
    throw badRequest(`cannot bind token for serviceaccount ${quote(accountName)} to pod running with different serviceaccount name.`);
  return { pod: checked(pod), node: await nodeOf(client, pod) };
}

/** A node that is not there yet is told by its name alone. */
async function nodeOf(client: Client, { spec: { nodeName } }: Pod): Promise<ApiObject | undefined> {
  if (!nodeName) return undefined;
  return (await client.resource('', 'nodes').get('', nodeName)) ?? { kind: 'Node', apiVersion: 'v1', metadata: { name: nodeName } };
}

function lifetimeOf(
  { spec }: TokenRequest,
  issuer: TokenIssuerOptions,
  { pod }: TokenSubject,
  warn: (text: string) => void,
): { lifetimeSeconds: number; warnAfterSeconds: number } {
  const { maxLifetimeSeconds, apiAudiences, extendedLifetimeSeconds } = issuer;
  if (maxLifetimeSeconds > 0 && spec.expirationSeconds! > maxLifetimeSeconds) {
    warn(`requested expiration of ${spec.expirationSeconds} seconds shortened to ${maxLifetimeSeconds} seconds`);
    spec.expirationSeconds = maxLifetimeSeconds;
  }
  const seconds = spec.expirationSeconds!;
  // Programs that read their token once must not break after an hour (KEP-1205).
  const isExtended =
    extendedLifetimeSeconds > 0 &&
    pod !== undefined &&
    seconds === INJECTED_LIFETIME_SECONDS &&
    spec.audiences!.every((audience) => apiAudiences.includes(audience));
  return isExtended ? { lifetimeSeconds: extendedLifetimeSeconds, warnAfterSeconds: seconds } : { lifetimeSeconds: seconds, warnAfterSeconds: 0 };
}

async function issueToken({ sign }: TokenIssuerOptions, claims: object, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await sign(claims, signal);
  } catch (error) {
    throw internalError(`failed to generate token: ${(error as Error).message}`);
  }
}
