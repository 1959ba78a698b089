import { join } from 'node:path';
import { loadBundle } from './code-cache.ts';
import type { runCommand } from './command.ts';

/** How long whatever still keeps the process alive may do so once its work is done. */
const EXIT_DELAY_MS = 100;

const output = {
  stdout: (text: string) => void process.stdout.write(text),
  stderr: (text: string) => void process.stderr.write(text),
  columns: process.stdout.isTTY ? process.stdout.columns : 0,
};

/** LMDB's package loads an encoder that is not used here, and that one native code of its own, unless told not to: two milliseconds. */
process.env['MSGPACKR_NATIVE_ACCELERATION_DISABLED'] = 'true';

async function main(): Promise<void> {
  const bundle = loadBundle<{ runCommand: typeof runCommand }>(join(__dirname, 'command.cjs'));
  const code = await bundle.exports.runCommand(process.argv, output);
  process.exitCode = code;
  setTimeout(() => process.exit(code), EXIT_DELAY_MS).unref();
}

void main();
