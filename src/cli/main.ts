import { join } from 'node:path';
import type * as bundle from './bundle.ts';
import { loadBundle } from './code-cache.ts';

/** How long whatever still keeps the process alive may do so once its work is done. */
const EXIT_DELAY_MS = 100;

const output = {
  stdout: (text: string) => void process.stdout.write(text),
  stderr: (text: string) => void process.stderr.write(text),
  /** Making the stream takes Node some milliseconds, which only help texts are worth. */
  get columns() {
    return process.stdout.isTTY ? process.stdout.columns : 0;
  },
  get rows() {
    return process.stdout.isTTY ? process.stdout.rows : undefined;
  },
};

async function main(): Promise<void> {
  const { runCommand } = loadBundle<typeof bundle>(join(__dirname, 'bundle.js')).exports;
  const code = await runCommand(process.argv, output);
  process.exitCode = code;
  setTimeout(() => process.exit(code), EXIT_DELAY_MS).unref();
}

void main();
