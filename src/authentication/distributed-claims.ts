import type { WebhookClient } from '../client/webhook-client.ts';
import { quote } from '../util/go-quote.ts';
import { isJsonObject, ownValue } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { type IdTokenTerms, verifyIdToken } from './id-token.ts';
import { parseJwt } from './jwt.ts';
import type { OidcProvider } from './oidc-provider.ts';

export interface ClaimResolverOptions extends Omit<IdTokenTerms, 'provider'> {
  /** The claim that may be kept elsewhere: that of groups. */
  claim: string;
  client: Pick<WebhookClient, 'get'>;
  /** `attempted` is to be called when the issuer could not be reached. */
  createProvider(issuer: string, attempted: () => void): OidcProvider;
  nowMs(): number;
}

/** Whoever a trusted issuer sends us to may name issuers: no more than these are kept. */
const MAX_ISSUERS = 32;

/**
 * Distributed claims (OpenID Connect Core 1.0 §5.6.2): a token may say that a claim is kept at an endpoint, which answers with another token that has it.
 * That one is verified as one of whoever it says issued it, by discovery over TLS (apiserver/plugin/pkg/authenticator/token/oidc, claimResolver).
 */
export class ClaimResolver {
  readonly #options: ClaimResolverOptions;
  readonly #providers = new Map<string, { provider: OidcProvider; attempted: Promise<void> }>();

  constructor(options: ClaimResolverOptions) {
    this.#options = options;
  }

  /** The claims with the one that was kept elsewhere; as they are where none is. The claims must be those of a verified token. */
  async expand(claims: JsonObject): Promise<JsonObject> {
    const { claim } = this.#options;
    const source = ownValue(claims, claim) === undefined ? sourceOf(claims, claim) : undefined;
    // Without an endpoint it may be an aggregated claim, which upstream passes over too.
    if (source === undefined || source.endpoint === '') return claims;
    return { ...claims, [claim]: await this.#resolve(source) };
  }

  close(): void {
    for (const { provider } of this.#providers.values()) provider.close();
  }

  async #resolve(source: ClaimSource): Promise<Json> {
    const { claim, audiences, algorithms, nowMs } = this.#options;
    const jwt = parseJwt(await this.#fetch(source));
    const issuer = jwt?.claims.iss;
    if (!jwt || typeof issuer !== 'string')
      throw new Error(`getting untrusted issuer from endpoint ${source.endpoint} failed for claim ${quote(claim)}: it is no JWT that names its issuer`);
    const provider = await this.#providerOf(issuer);
    try {
      await verifyIdToken(jwt, { provider, audiences, algorithms }, nowMs);
    } catch (error) {
      throw new Error(`verify distributed claim token: ${(error as Error).message}`, { cause: error });
    }
    const value = ownValue(jwt.claims, claim);
    if (value === undefined) throw new Error(`jwt returned by distributed claim endpoint ${quote(source.endpoint)} did not contain claim: ${claim}`);
    return value;
  }

  async #fetch({ endpoint, accessToken }: ClaimSource): Promise<string> {
    const failure = `while getting distributed claim ${quote(this.#options.claim)}`;
    if (!URL.canParse(endpoint) || new URL(endpoint).protocol !== 'https:') throw new Error(`${failure}: the endpoint is no URL of https`);
    const headers = { accept: 'application/jwt, */*', ...(accessToken !== '' && { authorization: `Bearer ${accessToken}` }) };
    try {
      const { status, body } = await this.#options.client.get(new URL(endpoint), undefined, headers);
      if (status >= 200 && status <= 226) return body.toString('utf8');
      throw new Error(`error while getting distributed claim JWT: ${status}`);
    } catch (error) {
      throw new Error(`${failure}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Waits for the first attempt to reach an issuer that is not known yet. */
  async #providerOf(issuer: string): Promise<OidcProvider> {
    const { provider, attempted } = this.#providers.get(issuer) ?? this.#addProvider(issuer);
    await attempted;
    if (!provider.isReady) throw new Error(`verifying untrusted issuer ${issuer} failed: verifier not initialized for issuer: ${quote(issuer)}`);
    return provider;
  }

  #addProvider(issuer: string): { provider: OidcProvider; attempted: Promise<void> } {
    const failure = `verifying untrusted issuer ${issuer} failed`;
    if (!URL.canParse(issuer) || new URL(issuer).protocol !== 'https:') throw new Error(`${failure}: it is no URL of https`);
    if (this.#providers.size >= MAX_ISSUERS) throw new Error(`${failure}: there are too many issuers of distributed claims`);
    let fail!: () => void;
    const failed = new Promise<void>((resolve) => (fail = resolve));
    const provider = this.#options.createProvider(issuer, fail);
    const added = { provider, attempted: Promise.race([provider.ready, failed]) };
    this.#providers.set(issuer, added);
    return added;
  }
}

interface ClaimSource {
  endpoint: string;
  accessToken: string;
}

function sourceOf(claims: JsonObject, claim: string): ClaimSource | undefined {
  const names = ownValue(claims, '_claim_names');
  if (names === undefined) return undefined;
  if (!isJsonObject(names)) throw new Error('oidc: error parsing distributed claim names: it is no object');
  const sources = ownValue(claims, '_claim_sources');
  if (sources === undefined) throw new Error('oidc: no claim sources');
  if (!isJsonObject(sources)) throw new Error('oidc: could not parse claim sources: it is no object');
  const name = ownValue(names, claim);
  if (name === undefined) return undefined;
  if (typeof name !== 'string') throw new Error('oidc: error parsing distributed claim names: a name is no string');
  const source = ownValue(sources, name);
  if (source === undefined) throw new Error(`id token _claim_names contained a source ${name} missing in _claims_sources`);
  if (!isJsonObject(source)) throw new Error('oidc: could not parse claim sources: a source is no object');
  return { endpoint: textOf(source, 'endpoint'), accessToken: textOf(source, 'access_token') };
}

function textOf(source: JsonObject, field: string): string {
  const value = ownValue(source, field) ?? '';
  if (typeof value !== 'string') throw new Error(`oidc: could not parse claim sources: ${field} is no string`);
  return value;
}
