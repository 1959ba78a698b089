import { type TestAPI, afterAll, test } from 'vitest';
import { ServerFixture, type ServerTestContext, type ServerTestOptions, printRequests } from './fixture.ts';

export type { ServerTestContext, ServerTestOptions } from './fixture.ts';

/**
 * Vitest's `test`, whose tests have a server: call it once at the top of a file.
 *
 * ```ts
 * const test = serverTest({ crds: './config/crd' });
 * test('reconciles', async ({ server }) => { … });
 * ```
 */
export function serverTest(options: ServerTestOptions = {}): TestAPI<ServerTestContext> {
  const fixture = new ServerFixture(options);
  afterAll(() => fixture.stop());
  return test.extend<ServerTestContext & { kubernetes: ServerTestContext }>({
    kubernetes: async ({ task, onTestFailed }, use) => {
      const { end, ...context } = await fixture.begin();
      onTestFailed(() => printRequests(task.name, context));
      await use(context);
      await end();
    },
    server: async ({ kubernetes }, use) => use(kubernetes.server),
    namespace: async ({ kubernetes }, use) => use(kubernetes.namespace),
  }) as unknown as TestAPI<ServerTestContext>;
}
