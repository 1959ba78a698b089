import { WebhookClient } from '../client/webhook-client.ts';
import type { Authentication } from '../server/authenticator.ts';
import type { Dial } from '../net/dial.ts';
import type { JwtConfiguration } from './authentication-configuration.ts';
import { claimReader } from './claims.ts';
import { ClaimResolver } from './distributed-claims.ts';
import type { ExpressionCompiler } from './expressions.ts';
import type { AuthenticationMetrics } from './metrics.ts';
import { type OidcIssuer, OidcTokens } from './oidc.ts';
import { OidcProvider, type OidcTiming } from './oidc-provider.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

export interface JwtAuthenticatorOptions {
  /** Of RFC 7518. */
  algorithms: readonly string[];
  compile: ExpressionCompiler;
  /** Told of issuers that cannot be reached. */
  report(error: Error): void;
  metrics?: AuthenticationMetrics | undefined;
  /** The way to issuers that name one. Throws where there is none of that name. */
  dialFor?(egressSelectorType: 'controlplane' | 'cluster'): Dial;
  timing?: Partial<OidcTiming>;
  /** How long issuers of a new configuration may take to be reached. */
  replaceTimeoutMs?: number;
}

/** How long requests that came before a change may still ask the issuers of the old configuration. */
const OLD_ISSUERS_MS = 60_000;

/** The JWT authenticators of a configuration that was found valid; another can take its place while the server runs. */
export class JwtAuthenticators implements TokenAuthenticator {
  readonly #options: JwtAuthenticatorOptions;
  #current: BuiltConfiguration;

  constructor(configuration: readonly JwtConfiguration[], options: JwtAuthenticatorOptions) {
    this.#options = options;
    this.#current = build(configuration, options);
  }

  authenticateToken(token: string): Authentication | undefined | Promise<Authentication> {
    return this.#current.tokens.authenticateToken(token);
  }

  /** Takes effect once every issuer was reached, so that no user is locked out by a slip; throws, and changes nothing, where one is not in time. */
  async replace(configuration: readonly JwtConfiguration[]): Promise<void> {
    const { replaceTimeoutMs = 60_000 } = this.#options;
    const next = build(configuration, this.#options);
    if (!(await settlesWithin(next.ready, replaceTimeoutMs))) {
      next.tokens.close();
      throw new Error('not every issuer of the new configuration could be reached');
    }
    const old = this.#current;
    this.#current = next;
    for (const url of old.urls) if (!next.urls.includes(url)) this.#options.metrics?.jwt(url).forget();
    setTimeout(() => old.tokens.close(), OLD_ISSUERS_MS).unref();
  }

  close(): void {
    this.#current.tokens.close();
  }
}

interface BuiltConfiguration {
  tokens: OidcTokens;
  urls: readonly string[];
  /** Resolves when every issuer was reached. */
  ready: Promise<unknown>;
}

function build(configuration: readonly JwtConfiguration[], options: JwtAuthenticatorOptions): BuiltConfiguration {
  const issuers = configuration.map((each) => issuerOf(each, options));
  const nowMs = options.timing?.nowMs;
  return {
    tokens: new OidcTokens({ issuers, algorithms: options.algorithms, ...(nowMs && { nowMs }) }),
    urls: issuers.map(({ url }) => url),
    ready: Promise.all(issuers.map(({ provider }) => provider.ready)),
  };
}

function issuerOf(configuration: JwtConfiguration, options: JwtAuthenticatorOptions): OidcIssuer {
  const { compile, report, timing = {} } = options;
  const { url = '', discoveryURL, certificateAuthority, audiences = [], egressSelectorType } = configuration.issuer ?? {};
  const dial = egressSelectorType ? options.dialFor?.(egressSelectorType as 'controlplane' | 'cluster') : undefined;
  // Compiled before anything is opened: this may throw.
  const readClaims = claimReader(configuration, compile);
  const client = new WebhookClient({ url: new URL(url), ...(certificateAuthority && { caPem: certificateAuthority }) }, { dial });
  const metrics = options.metrics?.jwt(url);
  const provider = new OidcProvider({ issuer: url, discoveryUrl: discoveryURL, client, report, onKeys: metrics?.fetchedKeys, timing });
  const claim = configuration.claimMappings?.groups?.claim;
  return {
    url,
    audiences,
    provider,
    readClaims,
    metrics,
    ...(claim && { resolver: resolverOf(claim, audiences, { client, caPem: certificateAuthority, dial }, options) }),
  };
}

/** Those who keep claims for an issuer are reached as the issuer is. */
function resolverOf(
  claim: string,
  audiences: readonly string[],
  { client, caPem, dial }: { client: WebhookClient; caPem: string | undefined; dial: Dial | undefined },
  { algorithms, report, timing = {} }: JwtAuthenticatorOptions,
): ClaimResolver {
  const createProvider = (issuer: string, attempted: () => void): OidcProvider =>
    new OidcProvider({
      issuer,
      client: new WebhookClient({ url: new URL(issuer), ...(caPem && { caPem }) }, { dial }),
      report: (error) => {
        attempted();
        report(error);
      },
      timing,
    });
  return new ClaimResolver({ claim, audiences, algorithms, client, createProvider, nowMs: timing.nowMs ?? Date.now });
}

async function settlesWithin(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => void (timer = setTimeout(() => resolve(false), timeoutMs).unref()));
  const isInTime = await Promise.race([promise.then(() => true), tooLate]);
  clearTimeout(timer);
  return isInTime;
}
