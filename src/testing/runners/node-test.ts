import { type TestContext, type TestOptions, after, test } from 'node:test';
import { ServerFixture, type ServerTestContext, type ServerTestOptions } from './fixture.ts';

export type { ServerTestContext, ServerTestOptions } from './fixture.ts';

type ServerTestFunction = (context: ServerTestContext, test: TestContext) => unknown;

/** `test` of node:test, whose functions are given a server. */
export type ServerTest = (name: string, ...rest: [run: ServerTestFunction] | [options: TestOptions, run: ServerTestFunction]) => Promise<void>;

/**
 * `test` of `node:test`, whose tests have a server: call it once at the top of a file.
 *
 * ```ts
 * const test = serverTest({ crds: './config/crd' });
 * test('reconciles', async ({ server }) => { … });
 * ```
 */
export function serverTest(options: ServerTestOptions = {}): ServerTest {
  const fixture = new ServerFixture(options);
  after(() => fixture.stop());
  return (name, ...rest) => {
    const [testOptions, run] = rest.length === 1 ? [{}, rest[0]] : rest;
    return test(name, testOptions, async (context) => {
      await fixture.run(name, (own) => run(own, context));
    });
  };
}
