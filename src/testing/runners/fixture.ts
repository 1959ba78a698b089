import { randomBytes } from 'node:crypto';
import { type StartOptions, type StartedServer, startServer } from '../../index.ts';

export interface ServerTestOptions extends StartOptions {
  /**
   * What each test gets. `fork`, which is the default: a server of its own, forked from one that all tests of the file have in common. `namespace`: that one
   * server, and a namespace in it that is deleted when the test is over.
   */
  isolation?: 'fork' | 'namespace';
}

export interface ServerTestContext {
  server: StartedServer;
  /** The test's own with `isolation: 'namespace'`; `default` otherwise. */
  namespace: string;
}

interface RunningTest extends ServerTestContext {
  end(): Promise<void>;
}

const LAST_REQUESTS = 30;

/** The server of a test file, and what each of its tests gets of it. */
export class ServerFixture {
  readonly #options: StartOptions;
  readonly #isolation: NonNullable<ServerTestOptions['isolation']>;
  #origin: Promise<StartedServer> | undefined;

  constructor({ isolation = 'fork', ...options }: ServerTestOptions) {
    this.#options = options;
    this.#isolation = isolation;
  }

  /** The first test starts the server. */
  async begin(): Promise<RunningTest> {
    this.#origin ??= startServer(this.#options);
    const origin = await this.#origin;
    return this.#isolation === 'fork' ? forkOf(origin) : namespaceOf(origin);
  }

  /** Runs a test. When it fails, the last requests that the server got are printed. */
  async run<T>(name: string, test: (context: ServerTestContext) => T | Promise<T>): Promise<T> {
    const { end, ...context } = await this.begin();
    try {
      return await test(context);
    } catch (error) {
      printRequests(name, context);
      throw error;
    } finally {
      await end();
    }
  }

  async stop(): Promise<void> {
    const origin = await this.#origin?.catch(() => undefined);
    this.#origin = undefined;
    await origin?.stop();
  }
}

async function forkOf(origin: StartedServer): Promise<RunningTest> {
  const server = await origin.fork();
  return { server, namespace: 'default', end: () => server.stop() };
}

async function namespaceOf(server: StartedServer): Promise<RunningTest> {
  const name = `test-${randomBytes(5).toString('hex')}`;
  await server.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  // Clients find it as the server makes it: with the account that pods run as.
  await server.waitFor({ apiVersion: 'v1', kind: 'ServiceAccount', name: 'default', namespace: name }, (account) => account !== undefined);
  return { server, namespace: name, end: () => server.delete({ apiVersion: 'v1', kind: 'Namespace', name }) };
}

/** Of a namespace, where the test has one: others use the same server. */
export function printRequests(name: string, { server, namespace }: ServerTestContext): void {
  const isOwn = (request: { namespace: string }): boolean => request.namespace === '' || namespace === 'default' || request.namespace === namespace;
  process.stderr.write(`The last requests of "${name}":\n${server.requests.report(LAST_REQUESTS, isOwn)}\n`);
}
