import { genericMethodNotAllowed, genericNotFound } from '../api/errors.ts';
import { pemBlocks } from '../encoding/pem.ts';
import type { Authenticator } from '../server/authenticator.ts';
import type { Handler } from '../endpoints/request.ts';
import type { Filter } from '../server/filters/filter.ts';
import type { FrontAuditing } from '../server/filters/standard-filters.ts';
import type { IncomingRequest } from '../server/server-request.ts';
import type { RequestObserver } from '../server/filters/request-observer.ts';
import type { Clock } from '../util/clock.ts';
import { Activity, type ActivitySources } from './activity.ts';
import { cookieName } from './cookie.ts';
import { certificateCredentials } from './credentials.ts';
import { type ExplainOptions, explainHandler } from './explain.ts';
import { RequestRecorder } from './request-recorder.ts';
import { RequestStream } from './request-stream.ts';
import { type ConsoleServer, SessionEndpoint } from './session-endpoint.ts';
import { sessionAuthenticator } from './session-authenticator.ts';
import { Sessions } from './sessions.ts';
import { SignInLimit } from './sign-in-limit.ts';
import { StaticFiles } from './static-files.ts';

export interface ConsoleOptions {
  /** Where the built page is. */
  folder: string;
  clock: Clock;
  /** Of the listener, once there is one. */
  port(): number;
  server(): ConsoleServer;
}

const ROOT = '/console';
/** Those that are authorized as any path that is no resource, and served behind the filters. */
const AUTHORIZED_PATHS: ReadonlySet<string> = new Set(['/console/requests', '/console/activity', '/console/explain']);

/** `--console`: the page, who is signed in, and what the page asks beside Kubernetes' API. */
export class Console {
  readonly #options: ConsoleOptions;
  readonly #sessions: Sessions;
  readonly #files: StaticFiles;
  readonly #limit: SignInLimit;
  readonly #requests = new RequestStream();
  readonly #recorder: RequestRecorder;
  #activity: Activity | undefined;

  constructor(options: ConsoleOptions) {
    this.#options = options;
    this.#sessions = new Sessions(options.clock);
    this.#files = new StaticFiles(options.folder);
    this.#limit = new SignInLimit(options.clock);
    this.#recorder = new RequestRecorder(this.#requests, () => this.#sessions.areAny);
  }

  /** Knows requests by their session; all others are for `inner`. */
  authenticator(inner: Authenticator): Authenticator {
    return sessionAuthenticator(inner, this.#sessions, this.#cookieName);
  }

  /** Serves the page and signing in, for which nobody needs a name or a right. In front of authentication. */
  filter(authenticator: Authenticator, auditing: FrontAuditing): Filter {
    const { server } = this.#options;
    const endpoint = new SessionEndpoint({ ...auditing, sessions: this.#sessions, limit: this.#limit, authenticator, cookieName: this.#cookieName, server });
    return (next) => (request) => {
      const { isResourceRequest, path } = request.info;
      sandboxDocument(request);
      if (isResourceRequest || !path.startsWith(ROOT) || AUTHORIZED_PATHS.has(path)) return next(request);
      if (path === '/console/session') return endpoint.serveSession(request);
      if (path === '/console/code') return endpoint.serveCode(request);
      if (path === '/console/') return this.#files.serve(request, 'index.html');
      if (path === ROOT) return redirect(request);
      if (path.startsWith('/console/')) return this.#files.serve(request, path.slice('/console/'.length));
      return next(request);
    };
  }

  /** Records requests while somebody is signed in. */
  get observe(): RequestObserver {
    return this.#recorder.observe;
  }

  /** What is authorized as any path that is no resource. */
  paths(sources: Omit<ActivitySources, 'recorded'>, explaining: ExplainOptions): Map<string, Handler> {
    const activity = new Activity({ ...sources, recorded: this.#recorder });
    this.#activity = activity;
    return new Map<string, Handler>([
      ['/console/explain', withMethod('POST', explainHandler(explaining))],
      ['/console/requests', withMethod('GET', (request) => this.#requests.serve(request))],
      ['/console/activity', withMethod('GET', (request) => activity.serve(request))],
    ]);
  }

  /** A code that signs in once, as the one whose client certificate this is; its issuers may follow. */
  createCode(certificatePem: string): string {
    const certificates = Array.from(pemBlocks(certificatePem), ({ bytes }) => bytes);
    return this.#sessions.createCode(certificateCredentials(certificates)).code;
  }

  close(): void {
    this.#sessions.close();
    this.#requests.close();
    this.#activity?.close();
  }

  readonly #cookieName = (): string => cookieName(this.#options.port());
}

const withMethod =
  (method: string, handler: Handler): Handler =>
  (request) => {
    if (request.exchange.method === method) return handler(request);
    request.responseHeaders['allow'] = method;
    throw genericMethodNotAllowed();
  };

/** What browsers load to show it, and run the scripts of (Fetch Metadata, W3C). */
const DOCUMENTS = new Set(['document', 'embed', 'frame', 'iframe', 'object']);
const SANDBOX = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts';

/**
 * A page that a pod or a service sends by `…/proxy/` has the console's origin, and could ask for its session: it gets an origin of its own. Our page brings its own
 * policy; a backend's is added to this one. What comes by `kubectl proxy`, which says for whom it asks, is of another origin already.
 */
function sandboxDocument({ exchange: { headers }, responseHeaders }: IncomingRequest): void {
  const destination = headers['sec-fetch-dest'];
  if (destination === undefined || headers['x-forwarded-for'] !== undefined || !DOCUMENTS.has(String(destination))) return;
  responseHeaders['content-security-policy'] = SANDBOX;
}

function redirect({ exchange }: IncomingRequest): void {
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw genericNotFound();
  exchange.respond(301, { location: '/console/', 'cache-control': 'no-cache' });
}
