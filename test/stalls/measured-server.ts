import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type ServerProcess, startServer, temporaryFolder } from '../support/server.ts';

const fileBeside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Of the time between two questions. */
interface Worst {
  /** What another client's GET took at the most, by the clock: on a busy machine that is not the server's doing alone. */
  getMs: number;
  /** What 99 of 100 of its GETs took at the most. */
  p99Ms: number;
  /** CPU time that the server's thread took between two turns of its loop at the most, whatever else the machine does. */
  cpuMs: number;
  /** Collections of garbage in the turn of `cpuMs`. */
  collected: string;
  /** Where the turn of `cpuMs` was spent, with STALLS_PROFILE=1. */
  profile?: string;
}

/** Of fewer GETs than a hundred, 99 % are all of them: one collection of garbage would count as if every request met one. */
const PROBES_OF_P99 = 200;
const TIMES_AT_MOST = 10;

interface Probes {
  getMs: number;
  p99Ms: number;
  count: number;
}

/** A server with two observers: a client that GETs every 2 ms, in a process of its own, and a clock inside the server (turns.mjs). */
export class MeasuredServer {
  readonly server: ServerProcess;
  readonly #prober: ChildProcess;
  readonly #turns: Socket;
  readonly #answers: AsyncIterator<string>;

  private constructor(server: ServerProcess, prober: ChildProcess, turns: Socket) {
    this.server = server;
    this.#prober = prober;
    this.#turns = turns;
    this.#answers = createInterface({ input: turns })[Symbol.asyncIterator]();
  }

  /** `probedPath` must be answered with 200 from when `startProbing` is called. */
  static async start(flags: readonly string[], probedPath: string): Promise<MeasuredServer> {
    const socketPath = join(temporaryFolder(), 'turns.sock');
    const environment = { NODE_OPTIONS: `--import=${pathToFileURL(fileBeside('turns.mjs')).href}`, STALLS_SOCKET: socketPath };
    const server = await startServer({ flags, environment });
    const target = { port: server.port, ca: server.ca, token: 'admin-token', path: probedPath };
    const prober = fork(fileBeside('prober.mjs'), [JSON.stringify(target)], { execArgv: [] });
    const turns = connect(socketPath);
    await once(turns, 'connect');
    return new MeasuredServer(server, prober, turns);
  }

  stop(): void {
    this.#prober.kill();
    this.#turns.destroy();
  }

  async #askTurns<T>(command: 'begin' | 'end' | 'memory'): Promise<T> {
    this.#turns.write(`${command}\n`);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error('the server has ended');
    return JSON.parse(value as string) as T;
  }

  async #askProber(message: 'start' | 'reset' | 'tell'): Promise<Probes> {
    this.#prober.send(message);
    const [answer] = (await once(this.#prober, 'message')) as [Probes | { error: string }];
    if (typeof answer === 'object' && 'error' in answer) throw new Error(answer.error);
    return answer as Probes;
  }

  async startProbing(): Promise<void> {
    await this.#askProber('start');
  }

  /** Until the probe has been answered a few times more: what a request left to be done is done by then, or measured. */
  async #afterProbes(more: number): Promise<Probes> {
    const { count } = await this.#askProber('tell');
    for (;;) {
      const worst = await this.#askProber('tell');
      if (worst.count >= count + more) return worst;
    }
  }

  /** `p99LimitMs`: work that takes a moment is done again where it is exceeded, until there are GETs enough to tell 99 % of them. */
  async measure<T>(work: () => Promise<T>, p99LimitMs: number): Promise<Worst & { result: T }> {
    await this.#afterProbes(10);
    await this.#askProber('reset');
    await this.#askTurns('begin');
    const result = await work();
    let probes = await this.#afterProbes(20);
    for (let times = 1; times < TIMES_AT_MOST && probes.count < PROBES_OF_P99 && probes.p99Ms > p99LimitMs; times++) {
      await work();
      probes = await this.#afterProbes(1);
    }
    const { getMs, p99Ms } = probes;
    const { cpuMs, collected, profile } = await this.#askTurns<Omit<Worst, 'getMs' | 'p99Ms'>>('end');
    return { getMs, p99Ms, cpuMs, collected, ...(profile !== undefined && { profile }), result };
  }

  /** What the server's heap and buffers hold when all garbage is gone. */
  async usedBytes(): Promise<number> {
    const { heapUsed, external } = await this.#askTurns<{ heapUsed: number; external: number }>('memory');
    return heapUsed + external;
  }
}
