import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { get } from 'node:https';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { readIfThere, writePrivately } from '../../compose/files.ts';
import { CommandError } from '../../options/command-error.ts';

/** A server that `binnacle up` has started, as it has written it into its data folder. */
export interface Instance {
  readonly folder: string;
  readonly pid: number;
  readonly url: string;
  /** ISO 8601. */
  readonly startedAt: string;
}

const FILE = 'instance.json';
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DEFAULT_FOLDER = '.binnacle';
const HEALTH_TIMEOUT_MS = 3_000;

/** Where named instances are kept: the same from whichever folder one asks. */
function namedRoot(): string {
  const { XDG_DATA_HOME: xdg, LOCALAPPDATA: local } = process.env;
  if (process.platform === 'win32' && local) return join(local, 'binnacle', 'instances');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'binnacle', 'instances');
  return join(xdg ? xdg : join(homedir(), '.local', 'share'), 'binnacle', 'instances');
}

export function namedFolder(name: string): string {
  if (!NAME.test(name)) throw new CommandError(`--name takes lower-case letters, digits and "-", at most 63, not ${JSON.stringify(name)}`);
  return join(namedRoot(), name);
}

/** The folder that the flags of a command name: by --name, by --data-dir, or the one in the current folder. */
export function folderOf({ name, 'data-dir': dataDir }: Readonly<Record<string, unknown>>): string {
  if (typeof name === 'string') return namedFolder(name);
  return resolve(typeof dataDir === 'string' ? dataDir : DEFAULT_FOLDER);
}

/** The folders of all named instances. */
export function namedFolders(): string[] {
  try {
    return readdirSync(namedRoot()).map((name) => join(namedRoot(), name));
  } catch {
    return [];
  }
}

/** `pid`: of the process that a signal is for. */
export function writeInstance(folder: string, url: string, pid: number): void {
  const instance = { pid, url, startedAt: new Date().toISOString() };
  writePrivately(join(folder, FILE), `${JSON.stringify(instance, undefined, 2)}\n`);
}

/** Only what that process has written: another may have taken the folder over since. */
export function removeInstance(folder: string, pid: number | undefined): void {
  if (readInstance(folder)?.pid === pid) rmSync(join(folder, FILE), { force: true });
}

/** Undefined where no server has said that it runs on this folder. */
export function readInstance(folder: string): Instance | undefined {
  try {
    const { pid, url, startedAt } = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as Omit<Instance, 'folder'>;
    return { folder, pid, url, startedAt };
  } catch {
    return undefined;
  }
}

/** A server that was killed has left its file: one that does not run counts as none. */
export function runningInstance(folder: string): Instance | undefined {
  const instance = readInstance(folder);
  return instance && isRunning(instance.pid) ? instance : undefined;
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** One that has ended, and that nobody has waited for: a container's first process often does not. */
const isZombie = (pid: number): boolean => process.platform === 'linux' && /\) Z /.test(readIfThere(`/proc/${pid}/stat`) ?? '');

/** Whether the server answers with the certificate of this folder: it is the one, and not another process that has got its number. */
export function isReady({ folder, url }: Instance): Promise<boolean> {
  const ca = readIfThere(join(folder, 'certificates', 'ca.crt'));
  return new Promise((done) => {
    const request = get(`${url}/readyz`, { ca, timeout: HEALTH_TIMEOUT_MS, agent: false }, (response) => {
      response.resume();
      done(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => done(false));
  });
}
