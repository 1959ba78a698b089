import { ServerFixture, type ServerTestContext, type ServerTestOptions } from './fixture.ts';

export type { ServerTestContext, ServerTestOptions } from './fixture.ts';

type ServerTestFunction = (context: ServerTestContext) => unknown;
type Register = (name: string, run: ServerTestFunction, timeoutMs?: number) => void;

/** Jest's `test`, whose functions are given a server. */
export interface ServerTest extends Register {
  only: Register;
  skip: Register;
  concurrent: Register;
}

type JestRegister = (name: string, run: () => Promise<unknown>, timeoutMs?: number) => void;

/** What Jest, and Bun's runner, put into the global scope. */
interface JestGlobals {
  test: JestRegister & { only: JestRegister; skip: JestRegister; concurrent: JestRegister };
  afterAll(run: () => Promise<void>): void;
}

/**
 * Jest's `test`, whose tests have a server: call it once at the top of a file.
 *
 * ```ts
 * const test = serverTest({ crds: './config/crd' });
 * test('reconciles', async ({ server }) => { … });
 * ```
 */
export function serverTest(options: ServerTestOptions = {}): ServerTest {
  const { test, afterAll } = globalThis as unknown as JestGlobals;
  const fixture = new ServerFixture(options);
  afterAll(() => fixture.stop());
  const withServer =
    (register: JestRegister): Register =>
    (name, run, timeoutMs) =>
      register(name, () => fixture.run(name, run), timeoutMs);
  return Object.assign(withServer(test), {
    only: withServer(test.only),
    skip: withServer(test.skip),
    concurrent: withServer((...args) => test.concurrent(...args)),
  });
}
