import { rm, stat } from 'node:fs/promises';
import { type Server, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StorageUnavailable } from '../engine.ts';

export interface FolderLock {
  release(): Promise<void>;
}

/** `isGone`: nobody listens, though the name is still there. */
interface Holder {
  pid: number | undefined;
  isGone: boolean;
}

const HOLDER_ANSWERS_WITHIN_MS = 1_000;

/**
 * Holds a folder for this process alone; throws StorageUnavailable, naming the process that has it, when it is taken.
 *
 * The lock is a listening socket whose name is made of the folder's device and inode: an abstract one on Linux, a named pipe on Windows. The kernel
 * grants such a name to one process at a time and takes it back when the process ends, however it ends. A file with a process id in it would have to
 * be taken for stale by whoever finds it, and two can find it at once; Node has no flock. Who is refused connects, and is told the holder's process id.
 * The name is known inside one network namespace: containers that share the folder must share that, too.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const path = await socketPath(folder);
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(`${process.pid}\n`);
  });
  server.unref();
  try {
    await listen(server, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw new StorageUnavailable(`cannot lock the folder ${folder}: ${(error as Error).message}`);
    const holder = await holderOf(path);
    if (!holder.isGone) throw new StorageUnavailable(takenMessage(folder, holder.pid));
    // Only where sockets are files can the name outlive its process.
    await rm(path, { force: true });
    await listen(server, path);
  }
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

const takenMessage = (folder: string, pid: number | undefined): string =>
  `the folder ${folder} is in use by another server${pid === undefined ? '' : ` (process ${pid})`}; stop that one first, or choose another folder`;

async function socketPath(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true });
  const name = `binnacle-store-${dev}-${ino}`;
  if (process.platform === 'linux') return `\0${name}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`;
  return join(tmpdir(), `${name}.sock`);
}

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject);
      resolve();
    });
  });

const holderOf = (path: string): Promise<Holder> =>
  new Promise((resolve) => {
    const socket = connect(path).setEncoding('utf8').setTimeout(HOLDER_ANSWERS_WITHIN_MS);
    const finish = (holder: Holder): void => {
      socket.destroy();
      resolve(holder);
    };
    socket.on('data', (text) => finish({ pid: Number.parseInt(String(text), 10) || undefined, isGone: false }));
    socket.on('error', (error: NodeJS.ErrnoException) => finish({ pid: undefined, isGone: error.code === 'ECONNREFUSED' }));
    for (const event of ['timeout', 'close']) socket.on(event, () => finish({ pid: undefined, isGone: false }));
  });
