import { lstat, rm } from 'node:fs/promises';
import { connect } from 'node:net';

/** What a server that was killed left behind. Only a socket is removed, and only where nobody listens. */
export async function removeLeftSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isSocket()) return;
  const isTaken = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => resolve(true));
    socket.on('error', () => resolve(false)).on('close', () => resolve(false));
    socket.unref().end();
  });
  if (!isTaken) await rm(path, { force: true });
}
