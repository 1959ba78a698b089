import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inject, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/encoding/json-types.ts';
import { recordedState } from '../../src/history/testing/recorded-state.ts';

export interface Result {
  code: number | string | null | undefined;
  stdout: string;
  stderr: string;
}

export const program = (): string => join(inject('distDir'), 'binnacle.js');

/** The built command to its end. */
export const run = (...args: string[]): Promise<Result> => runWith({}, ...args);

export const runWith = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Result> =>
  new Promise((resolve) => {
    execFile(process.execPath, [program(), ...args], { env: { ...process.env, ...env }, maxBuffer: 2 ** 28 }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
  });

/** A file for the oracle's administrator. */
export function writeKubeconfig({ url, ca }: { url: string; ca: string }, folder: string, user: object = { token: 'admin-token' }): string {
  const file = join(folder, 'kubeconfig');
  const config = {
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: 'admin', user }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** `binnacle record` as a process, and what its file shows. */
export class Recording {
  readonly file: string;
  readonly child: ChildProcess;

  constructor(kubeconfig: string, folder: string, ...flags: string[]) {
    this.file = join(folder, 'flight.bin');
    this.child = spawn(process.execPath, [program(), 'record', '-o', this.file, '--kubeconfig', kubeconfig, ...flags], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void this.child.kill('SIGKILL'));
  }

  /** When all that there is at first is recorded. */
  async started(): Promise<this> {
    await once(createInterface(this.child.stdout!), 'line');
    return this;
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill(signal);
    await ended;
  }

  /** Resolves when the file shows this. */
  async shows(isThere: (state: Map<string, JsonObject>) => boolean): Promise<Map<string, JsonObject>> {
    for (;;) {
      const state = await this.state();
      if (isThere(state)) return state;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  state(): Promise<Map<string, JsonObject>> {
    return recordedState(this.file);
  }
}
