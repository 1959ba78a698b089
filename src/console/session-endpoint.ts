import { badRequest, genericMethodNotAllowed, tooManyRequests, unauthorized, unsupportedMediaType } from '../api/errors.ts';
import type { User } from '../api/user.ts';
import type { ServerRequest } from '../endpoints/request.ts';
import type { Authenticator } from '../server/authenticator.ts';
import type { FrontAuditing } from '../server/filters/standard-filters.ts';
import type { IncomingRequest } from '../server/server-request.ts';
import { cookieOf, expiredCookie, takeCookie } from './cookie.ts';
import { type Credentials, authenticated, certificateCredentials, credentialsOf, tokenCredentials } from './credentials.ts';
import { isSameSecret } from '../util/secrets.ts';
import { isFromOwnPage, userOf } from './session-authenticator.ts';
import type { Session, Sessions } from './sessions.ts';
import type { SignInLimit } from './sign-in-limit.ts';

const BODY_LIMIT_BYTES = 128 * 1024;
const RETRY_AFTER_SECONDS = 2;

/** What the page shows of the server. */
export interface ConsoleServer {
  version: string;
  storage: string;
  hasHistory: boolean;
}

export interface SessionEndpointOptions extends FrontAuditing {
  sessions: Sessions;
  limit: SignInLimit;
  /** Of everybody: without sessions. */
  authenticator: Authenticator;
  cookieName(): string;
  server(): ConsoleServer;
}

type Answer = (request: IncomingRequest) => void;

/**
 * `/console/session` and `/console/code`. They stand in front of authentication, since they are where one signs in: they authenticate by themselves, and then
 * have the request audited as any other.
 */
export class SessionEndpoint {
  readonly #options: SessionEndpointOptions;

  constructor(options: SessionEndpointOptions) {
    this.#options = options;
  }

  async serveSession(request: IncomingRequest): Promise<void> {
    const { method } = request.exchange;
    if (method === 'POST') return this.#signIn(request);
    if (method === 'GET') return this.#show(request);
    if (method === 'DELETE') return this.#signOut(request);
    return refuseMethod(request, 'GET, POST, DELETE');
  }

  /** A code that signs in as whoever asks for it: what `binnacle console` makes a link of. */
  async serveCode(request: IncomingRequest): Promise<void> {
    if (request.exchange.method !== 'POST') return refuseMethod(request, 'POST');
    await this.#readBody(request);
    const { credentials, user } = await this.#attempt(request, () => credentialsOf(request));
    return this.#answer(request, user, () => {
      const { code, expiresAtMs } = this.#options.sessions.createCode(credentials);
      respondJson(request, { code, expiresAt: new Date(expiresAtMs).toISOString() });
    });
  }

  async #signIn(request: IncomingRequest): Promise<void> {
    const { sessions, cookieName } = this.#options;
    const { id: formerId } = takeCookie(request.exchange.headers, cookieName());
    const body = await this.#readBody(request);
    const { credentials, user } = await this.#attempt(request, () => this.#credentialsIn(body, request));
    return this.#answer(request, user, () => {
      const former = formerId === undefined ? undefined : sessions.find(formerId);
      if (former) sessions.end(former);
      const { id, session } = sessions.create(credentials, user.name);
      request.responseHeaders['set-cookie'] = cookieOf(cookieName(), id);
      this.#tell(request, session, user);
    });
  }

  async #show(request: IncomingRequest): Promise<void> {
    const session = this.#sessionOf(request, false);
    const user = await this.#userOf(request, session);
    return this.#answer(request, user, () => this.#tell(request, session!, user));
  }

  async #signOut(request: IncomingRequest): Promise<void> {
    const session = this.#sessionOf(request, true);
    const user = await this.#userOf(request, session);
    return this.#answer(request, user, () => {
      this.#options.sessions.end(session!);
      request.exchange.respond(204, { 'set-cookie': expiredCookie(this.#options.cookieName()) });
    });
  }

  /** Undefined where the request carries none that counts. */
  #sessionOf(request: IncomingRequest, needsToken: boolean): Session | undefined {
    const isOwnPage = isFromOwnPage(request);
    const { id, csrfToken } = takeCookie(request.exchange.headers, this.#options.cookieName());
    const session = id === undefined || !isOwnPage ? undefined : this.#options.sessions.find(id);
    return session && needsToken && (csrfToken === undefined || !isSameSecret(Buffer.from(session.csrfToken), csrfToken)) ? undefined : session;
  }

  async #userOf(request: IncomingRequest, session: Session | undefined): Promise<User> {
    const { sessions, authenticator } = this.#options;
    try {
      const found = session && (await userOf(authenticator, sessions, session, request));
      if (found) return found.user;
    } catch {
      // The session is over.
    }
    return this.#refuse(request);
  }

  /** Undefined where it has none, or a code that is not known any more. */
  #credentialsIn(body: Readonly<Record<string, unknown>>, { exchange }: ServerRequest): Credentials | undefined {
    if (typeof body['code'] === 'string') return this.#options.sessions.takeCode(body['code']);
    if (typeof body['token'] === 'string') return tokenCredentials(body['token']);
    if (Object.keys(body).length > 0) throw badRequest('the body has a code or a token, as a string, or nothing');
    return exchange.connection.peerCertificates.length > 0 ? certificateCredentials(exchange.connection.peerCertificates) : undefined;
  }

  /** A page of another site cannot send this type without asking first, and is never allowed to. */
  async #readBody(request: IncomingRequest): Promise<Readonly<Record<string, unknown>>> {
    const { exchange } = request;
    if (!isFromOwnPage(request)) this.#refuse(request);
    if (exchange.headers['content-type']?.split(';', 1)[0]!.trim() !== 'application/json') throw unsupportedMediaType('the body is to be of application/json');
    const bytes = await exchange.readBody(BODY_LIMIT_BYTES);
    try {
      const body = JSON.parse(bytes.toString()) as unknown;
      if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
    } catch {
      // Its text may be a credential: it is not told why.
    }
    throw badRequest('the body is to be an object of JSON');
  }

  /** A code is not used up by an attempt that is one too many. */
  async #attempt(request: IncomingRequest, take: () => Credentials | undefined): Promise<{ credentials: Credentials; user: User }> {
    const { limit, authenticator } = this.#options;
    const { remoteAddress } = request.exchange;
    if (!limit.take(remoteAddress)) throw tooManyRequests('too many attempts to sign in have failed', RETRY_AFTER_SECONDS);
    const credentials = take();
    try {
      const found = credentials && (await authenticated(authenticator, credentials, request));
      if (found) {
        limit.giveBack(remoteAddress);
        return { credentials: credentials!, user: found.user };
      }
    } catch {
      // As anybody else is told whose credentials are bad: nothing.
    }
    return this.#refuse(request);
  }

  /** Clients without a name do not keep connections of HTTP/2, as in the filter of authentication. */
  #refuse(request: IncomingRequest): never {
    const { exchange } = request;
    if (exchange.httpVersion === '2.0' && exchange.method === 'POST') exchange.connection.requestClose();
    this.#options.onRefused?.(request);
    throw unauthorized();
  }

  #answer(request: IncomingRequest, user: User, answer: Answer): Promise<void> | void {
    request.user = user;
    request.clientName = user.name;
    request.exchange.headers.authorization = undefined;
    return this.#options.audit ? this.#options.audit(answer)(request) : answer(request);
  }

  #tell(request: IncomingRequest, { csrfToken, expiresAtMs }: Session, { name, groups }: User): void {
    respondJson(request, {
      user: { username: name, groups },
      csrfToken,
      expiresAt: new Date(expiresAtMs).toISOString(),
      server: this.#options.server(),
    });
  }
}

/** Nothing here is to be kept by anybody. */
const respondJson = ({ exchange }: IncomingRequest, body: object): void =>
  exchange.respond(200, { 'content-type': 'application/json', 'cache-control': 'no-store' }, JSON.stringify(body));

function refuseMethod(request: IncomingRequest, allowed: string): never {
  request.responseHeaders['allow'] = allowed;
  throw genericMethodNotAllowed();
}
