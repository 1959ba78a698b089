import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Container } from '../../src/apis/facts/types/core-v1.ts';
import type { PodParts } from './pretended-pod.ts';

/** One container as it runs or has ended. */
export interface Running {
  readonly isProgram: boolean;
  /** Undefined while it runs. */
  readonly exitCode: number | undefined;
  stop(): void;
}

/** Scripts of which the end is known: `exit 1`, `true`, `sleep 5; exit 0`. */
const SCRIPT = /^\s*(?:sleep (?<seconds>\d+)\s*;?)?\s*(?:exit (?<code>\d+)|(?<word>true|false))?\s*;?\s*$/;

/** A program where there is one of the image's name; else what only runs, or ends as its script says. */
export function startContainer(container: Container, parts: PodParts, onEnd: () => void): Running {
  const { image = '', command = [], args = [] } = container;
  const words = [...command, ...args];
  const script = command[0]?.endsWith('sh') ? words.at(-1) : command.join(' ');
  const { seconds, code, word } = SCRIPT.exec(script ?? '')?.groups ?? {};
  if (seconds ?? code ?? word) return startScript(Number(seconds ?? 0), word === 'false' ? 1 : Number(code ?? 0), onEnd);
  const name = basename(image).split(/[:@]/)[0]!;
  const path = join(parts.programs, name);
  // agnhost with a command of its own is a shell, or nothing but a pause.
  const isShell = name === 'agnhost' && (command.length > 0 || (args[0] ?? 'pause') === 'pause');
  return isShell || !existsSync(path)
    ? startPause()
    : startProgram(path, name === 'agnhost' ? args : words.slice(command.length > 0 ? 1 : 0), container, parts, onEnd);
}

const startPause = (): Running => ({ isProgram: false, exitCode: undefined, stop() {} });

function startScript(seconds: number, code: number, onEnd: () => void): Running {
  const running: { exitCode: number | undefined } = { exitCode: undefined };
  const timer = setTimeout(() => {
    running.exitCode = code;
    onEnd();
  }, seconds * 1_000);
  return Object.assign(running, { isProgram: false, stop: () => clearTimeout(timer) });
}

function startProgram(path: string, args: string[], { env = [] }: Container, { apiPort }: PodParts, onEnd: () => void): Running {
  const values = Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  const child = spawn(path, args, {
    env: { PATH: process.env['PATH'], KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: apiPort, ...values },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const running: { exitCode: number | undefined } = { exitCode: undefined };
  child.once('exit', (code) => {
    running.exitCode = code ?? 137;
    onEnd();
  });
  return Object.assign(running, { isProgram: true, stop: () => void child.kill('SIGKILL') });
}
