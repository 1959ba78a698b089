import { createHash } from 'node:crypto';
import { accessSync, chmodSync, constants, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { CommandError } from '../../options/command-error.ts';
import { shellQuoted } from '../shell-quote.ts';

export interface AssetSettings {
  /** The command's own script, which the programs of the folder start. */
  commandFile: string;
  /** Whether the API server is to run its built-in controllers. */
  runsControllers: boolean;
}

const isWindows = process.platform === 'win32';

/** In the user's cache: the same for the same programs, so that test runs side by side may all make it. */
export function defaultAssetFolder({ commandFile, runsControllers }: AssetSettings): string {
  const identity = createHash('sha256')
    .update(JSON.stringify([process.execPath, commandFile, runsControllers]))
    .digest('hex')
    .slice(0, 16);
  return join(cacheFolder(), 'binnacle', 'envtest', identity);
}

function cacheFolder(): string {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = process.env;
  if (isWindows && local) return local;
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  return xdg ? xdg : join(homedir(), '.cache');
}

/** The first kubectl on the PATH that is not the one of this folder. */
export function findKubectl(assetFolder: string): string | undefined {
  const names = isWindows ? ['kubectl.exe', 'kubectl.cmd'] : ['kubectl'];
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '' && resolve(folder) !== assetFolder);
  return folders.flatMap((folder) => names.map((name) => resolve(folder, name))).find(isExecutableFile);
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Writes the three programs. Each is written whole or not at all: another run may be starting them. */
export function writeAssets(folder: string, { commandFile, runsControllers, kubectl }: AssetSettings & { kubectl: string | undefined }): void {
  const own = (...args: string[]): string => script([process.execPath, commandFile, 'envtest', ...args]);
  const programs = {
    etcd: own('etcd'),
    'kube-apiserver': own('kube-apiserver', ...(runsControllers ? ['--controllers=*'] : [])),
    kubectl: kubectl === undefined ? MISSING_KUBECTL : script([kubectl]),
  };
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, content] of Object.entries(programs)) writeProgram(join(folder, isWindows ? `${name}.cmd` : name), content);
  } catch (error) {
    throw new CommandError(`cannot write ${folder}: ${(error as NodeJS.ErrnoException).code}; choose another folder with --dir`);
  }
}

function writeProgram(path: string, content: string): void {
  const written = `${path}.${process.pid}.new`;
  writeFileSync(written, content);
  chmodSync(written, 0o755);
  renameSync(written, path);
}

/** A script that becomes the program: signals reach it, and whoever started the script is its parent. */
const script = (command: readonly string[]): string =>
  isWindows ? `@${command.map((word) => `"${word}"`).join(' ')} %*\r\n` : `#!/bin/sh\nexec ${command.map(shellQuoted).join(' ')} "$@"\n`;

const MISSING_LINE = 'error: there was no kubectl on the PATH when this folder was made; install one, or name it with binnacle envtest --kubectl';
const MISSING_KUBECTL = isWindows ? `@echo ${MISSING_LINE} 1>&2\r\n@exit /b 127\r\n` : `#!/bin/sh\necho '${MISSING_LINE}' >&2\nexit 127\n`;
