import { spawn } from 'node:child_process';
import { startListener } from '../src/serving/test-server.ts';

/*
 * Runs h2spec (github.com/summerwind/h2spec) against our HTTP/2: `npm run h2spec -- path/to/h2spec [its arguments]`. Requests are answered when their bodies are whole, and a
 * moment later: what h2spec sends behind a request must find it open.
 */

const ANSWER_AFTER_MS = 50;
/** Long enough to be cut by the windows that h2spec sets. */
const BODY = 'x'.repeat(1000);

const [binary, ...more] = process.argv.slice(2);
if (binary === undefined) throw new Error('usage: npm run h2spec -- path/to/h2spec [arguments]');

const listener = await startListener((exchange) => {
  exchange.readBody(1_000_000).then(
    () => setTimeout(() => exchange.respond(200, { 'content-type': 'text/plain' }, BODY), ANSWER_AFTER_MS),
    () => {},
  );
});
const child = spawn(binary, ['-h', '127.0.0.1', '-p', String(listener.address.port), '-t', '-k', ...more], { stdio: 'inherit' });
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
  void listener.close({ graceMs: 0 });
});
