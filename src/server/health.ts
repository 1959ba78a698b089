import type { Handler, ServerRequest } from '../endpoints/request.ts';
import { quote } from '../util/go-quote.ts';
import { writeTextError } from './filters/write-error.ts';
import type { LifecycleSignal } from './lifecycle.ts';
import type { HealthObserver } from './metrics/health-metrics.ts';

/** One thing that can be well or not. */
export interface HealthCheck {
  name: string;
  /** `?exclude=` takes this too, for all checks of the group. */
  group?: string;
  /** Throws, or rejects, when not well. The message is shown at the check's own path only. */
  check(): Promise<void> | void;
}

export const PING: HealthCheck = { name: 'ping', check: () => {} };
/** Here for its name: probes and dashboards ask for it. Our log has no buffer that could be stuck. */
export const LOG: HealthCheck = { name: 'log', check: () => {} };

/**
 * Here for its name too. Upstream's in-process client comes by TLS, with a certificate that runs out three years after the start, and this check ends a
 * server that can no longer speak to itself. Ours calls the stores: there is no certificate.
 */
export const LOOPBACK_CERTIFICATE: HealthCheck = { name: 'loopback-serving-certificate', check: () => {} };

/** /readyz fails while a cache that informers read is not what the store is: before the first load, and while one is loaded anew. */
export const informerSyncCheck = (unsynced: () => readonly string[]): HealthCheck => ({
  name: 'informer-sync',
  check: () => {
    const names = unsynced();
    if (names.length > 0) throw new Error(`${names.length} informers not started yet: [${names.join(' ')}]`);
  },
});

/** /readyz fails as soon as shutdown begins, so that balancers look elsewhere while requests are still served. */
export const shutdownCheck = (shutdownInitiated: LifecycleSignal): HealthCheck => ({
  name: 'shutdown',
  check: () => {
    if (shutdownInitiated.isSignaled) throw new Error('process is shutting down');
  },
});

export interface HealthOptions {
  /** `--livez-grace-period`: for so long after the start, checks of the boot sequence do not fail /livez. */
  livezGraceMs: number;
  observe: HealthObserver;
  /** The first success of /readyz. */
  onFirstReady: () => void;
  /** Told which checks failed and why; the client is only told which. */
  log?: (endpoint: string, failures: readonly string[]) => void;
  nowMs?: () => number;
}

/** The checks behind /healthz, /livez and /readyz (apiserver/pkg/server/healthz.go). Checks are added until `handlers` is called. */
export class Health {
  readonly #options: HealthOptions;
  readonly #nowMs: () => number;
  readonly #healthz: HealthCheck[] = [];
  readonly #livez: HealthCheck[] = [];
  readonly #readyz: HealthCheck[] = [];
  #isSealed = false;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? ((): number => performance.now());
  }

  /** For all three, with no grace. */
  addChecks(...checks: HealthCheck[]): void {
    this.#add(this.#healthz, checks);
    this.#add(this.#livez, checks);
    this.#add(this.#readyz, checks);
  }

  /** For all three; /livez overlooks them while the server may still be starting. */
  addBootChecks(...checks: HealthCheck[]): void {
    this.#add(this.#healthz, checks);
    this.addLivezChecks(this.#options.livezGraceMs, ...checks);
    this.#add(this.#readyz, checks);
  }

  addHealthzChecks(...checks: HealthCheck[]): void {
    this.#add(this.#healthz, checks);
  }

  addReadyzChecks(...checks: HealthCheck[]): void {
    this.#add(this.#readyz, checks);
  }

  addLivezChecks(graceMs: number, ...checks: HealthCheck[]): void {
    this.#add(this.#livez, graceMs > 0 ? checks.map((check) => this.#overlookedFor(graceMs, check)) : checks);
  }

  /** Every path with its handler: `/healthz`, `/healthz/ping`, … */
  handlers(): Map<string, Handler> {
    this.#isSealed = true;
    const handlers = new Map<string, Handler>();
    const install = (name: string, checks: readonly HealthCheck[], onFirstHealthy?: () => void): void => {
      handlers.set(`/${name}`, allChecksHandler(name, checks, this.#options, onFirstHealthy));
      for (const check of checks) handlers.set(`/${name}/${check.name}`, oneCheckHandler(check));
    };
    install('healthz', this.#healthz);
    install('livez', this.#livez);
    install('readyz', this.#readyz, this.#options.onFirstReady);
    return handlers;
  }

  #add(list: HealthCheck[], checks: readonly HealthCheck[]): void {
    if (this.#isSealed) throw new Error(`health check "${checks[0]?.name ?? ''}" comes after the health endpoints were made`);
    list.push(...checks);
  }

  #overlookedFor(graceMs: number, check: HealthCheck): HealthCheck {
    const fromMs = this.#nowMs() + graceMs;
    return { ...check, check: () => (this.#nowMs() > fromMs ? check.check() : undefined) };
  }
}

const PLAIN_TEXT = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };

function allChecksHandler(name: string, checks: readonly HealthCheck[], options: HealthOptions, onFirstHealthy?: () => void): Handler {
  let hasBeenHealthy = false;
  return async (request) => {
    const { lines, failures } = await runChecks(name, checks, request, options.observe);
    if (failures.length > 0) {
      options.log?.(name, failures);
      writeTextError(request, 500, `${lines}${name} check failed`);
      return;
    }
    if (!hasBeenHealthy) {
      hasBeenHealthy = true;
      onFirstHealthy?.();
    }
    request.exchange.respond(200, PLAIN_TEXT, request.query.has('verbose') ? `${lines}${name} check passed\n` : 'ok');
  };
}

interface CheckResults {
  /** A line a check, for the client. */
  lines: string;
  /** With their reasons, for the log. */
  failures: string[];
}

async function runChecks(type: string, checks: readonly HealthCheck[], request: ServerRequest, observe: HealthObserver): Promise<CheckResults> {
  const excluded = new Set(request.query.getAll('exclude'));
  const unmatched = new Set(excluded);
  const results: CheckResults = { lines: '', failures: [] };
  for (const { name, group, check } of checks) {
    if (excluded.has(name)) {
      unmatched.delete(name);
      results.lines += `[+]${name} excluded: ok\n`;
      continue;
    }
    if (group !== undefined && excluded.has(group)) {
      unmatched.delete(group);
      results.lines += `[+]${name} excluded with ${group}: ok\n`;
      continue;
    }
    const reason = await failureOf(check);
    observe(name, type, reason === undefined);
    results.lines += reason === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`;
    if (reason !== undefined) results.failures.push(`${name}: ${reason}`);
  }
  if (unmatched.size > 0) results.lines += `warn: some health checks cannot be excluded: no matches for ${[...unmatched].toSorted().map(quote).join(',')}\n`;
  return results;
}

function oneCheckHandler({ check }: HealthCheck): Handler {
  return async (request) => {
    const reason = await failureOf(check);
    if (reason === undefined) request.exchange.respond(200, { 'content-type': 'text/plain; charset=utf-8' }, 'ok');
    else writeTextError(request, 500, `internal server error: ${reason}`);
  };
}

/** Why a check fails; undefined when it does not. */
async function failureOf(check: HealthCheck['check']): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
