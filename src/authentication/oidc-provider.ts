import { runInSlices } from '../util/time-slice.ts';
import { hasUsualSize } from './public-keys.ts';
import { type JsonWebKey, type KeyObject, createPublicKey } from 'node:crypto';
import type { WebhookClient } from '../client/webhook-client.ts';
import { delay } from '../util/delay.ts';
import { quote } from '../util/go-quote.ts';
import { isJsonObject, parseLongJson } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import type { UnverifiedJwt } from './jwt.ts';

export interface OidcProviderOptions {
  issuer: string;
  /** Where the discovery document is, where that does not follow from the issuer. */
  discoveryUrl?: string | undefined;
  client: WebhookClient;
  /** Told when the issuer cannot be reached; it is tried again. */
  report(error: Error): void;
  /** Told of the keys as they came, or that they did not. */
  onKeys?: ((keySet: string | undefined) => void) | undefined;
  timing?: Partial<OidcTiming>;
}

export interface OidcTiming {
  /** Between attempts at discovery. */
  retryMs: number;
  /** Between two fetches of the keys: tokens that nobody signed must not become a flood at the issuer. A request waits for that long at most. */
  minRefreshMs: number;
  nowMs(): number;
}

interface VerificationKey {
  id: string;
  key: KeyObject;
}

const MAX_KEYS = 256;

/** An OpenID issuer: its keys, found by discovery (OpenID Connect Discovery 1.0), and fetched anew when a token is signed by one that is not known. */
export class OidcProvider {
  readonly #options: OidcProviderOptions;
  readonly #timing: OidcTiming;
  readonly #stop = new AbortController();
  #jwksUrl: URL | undefined;
  #keys: readonly VerificationKey[] = [];
  #fetching: Promise<readonly VerificationKey[]> | undefined;
  #fetchedAtMs = -Infinity;
  /** Resolves when the issuer was reached for the first time; never, if it is closed before. */
  readonly ready: Promise<void>;

  constructor(options: OidcProviderOptions) {
    this.#options = options;
    this.#timing = { retryMs: 10_000, minRefreshMs: 1_000, nowMs: Date.now, ...options.timing };
    this.ready = this.#discoverUntilDone();
  }

  get isReady(): boolean {
    return this.#jwksUrl !== undefined;
  }

  close(): void {
    this.#stop.abort();
    this.#options.client.close();
  }

  /** Throws where no key of the issuer's has signed the token. */
  async verify(jwt: UnverifiedJwt, algorithms: readonly string[]): Promise<void> {
    const { alg = null, kid } = jwt.header;
    if (typeof alg !== 'string' || !algorithms.includes(alg))
      throw new Error(`oidc: id token signed with unsupported algorithm, expected [${algorithms.map(quote).join(' ')}] got ${quote(String(alg))}`);
    const isSigned = (keys: readonly VerificationKey[]): Promise<boolean> => {
      const named = keys.filter(({ id }) => !kid || id === kid).map(({ key }) => key);
      return runInSlices(jwt.isSignedByAny(named, algorithms));
    };
    if ((await isSigned(this.#keys)) || (await isSigned(await this.#refresh()))) return;
    throw new Error('failed to verify signature: failed to verify id token signature');
  }

  async #discoverUntilDone(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        this.#jwksUrl = await this.#discover();
        return;
      } catch (error) {
        if (!this.#stop.signal.aborted) this.#options.report(error as Error);
      }
      await delay(this.#timing.retryMs, this.#stop.signal);
    }
    // Nobody is to take an issuer that was given up for one that is there.
    return new Promise(() => {});
  }

  async #discover(): Promise<URL> {
    const { issuer, discoveryUrl = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration` } = this.#options;
    const { value: document } = await this.#fetch(new URL(discoveryUrl));
    if (document.issuer !== issuer)
      throw new Error(`oidc: issuer did not match the issuer returned by provider, expected ${quote(issuer)} got ${quote(String(document.issuer ?? ''))}`);
    const jwksUri = document.jwks_uri;
    if (typeof jwksUri !== 'string' || !URL.canParse(jwksUri) || new URL(jwksUri).protocol !== 'https:')
      throw new Error('oidc: provider did not return a JWKS URL of https');
    return new URL(jwksUri);
  }

  /** One fetch at a time, for all that wait. */
  #refresh(): Promise<readonly VerificationKey[]> {
    this.#fetching ??= this.#fetchKeys().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #fetchKeys(): Promise<readonly VerificationKey[]> {
    const { minRefreshMs, nowMs } = this.#timing;
    const waitMs = this.#fetchedAtMs + minRefreshMs - nowMs();
    if (waitMs > 0) await delay(Math.min(waitMs, minRefreshMs), this.#stop.signal);
    this.#fetchedAtMs = nowMs();
    try {
      const { value, body } = await this.#fetch(this.#jwksUrl!);
      this.#keys = keysOf(value.keys);
      this.#options.onKeys?.(body.toString('utf8'));
      return this.#keys;
    } catch (error) {
      this.#options.onKeys?.(undefined);
      throw new Error(`failed to verify signature: fetching keys oidc: get keys failed: ${(error as Error).message}`, { cause: error });
    }
  }

  async #fetch(url: URL): Promise<{ value: JsonObject; body: Buffer }> {
    const { status, body } = await this.#options.client.get(url, this.#stop.signal);
    if (status !== 200) throw new Error(`${url.href}: status ${status}`);
    const value = await parseLongJson(body);
    if (!isJsonObject(value)) throw new Error(`${url.href}: expected a JSON object`);
    return { value, body };
  }
}

/** Those of a JSON Web Key Set (RFC 7517 §5) that tokens can be verified with; the rest is passed over, as the RFC asks. */
function keysOf(set: Json | undefined): VerificationKey[] {
  if (!Array.isArray(set)) throw new Error('the key set has no keys');
  return set.slice(0, MAX_KEYS).flatMap((jwk) => {
    const key = isJsonObject(jwk) && (jwk.use === undefined || jwk.use === 'sig') ? publicKeyOf(jwk) : undefined;
    return key ? [{ id: isJsonObject(jwk) && typeof jwk.kid === 'string' ? jwk.kid : '', key }] : [];
  });
}

function publicKeyOf(jwk: JsonObject): KeyObject | undefined {
  if (jwk.kty !== 'RSA' && jwk.kty !== 'EC') return undefined;
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    return hasUsualSize(key) ? key : undefined;
  } catch {
    return undefined;
  }
}
