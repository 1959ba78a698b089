import type { Duplex } from 'node:stream';

/** For what is still on its way to a peer that reads. */
const GRACE_MS = 1000;

/** Ends a connection that was taken over from HTTP: what was written still goes out, what still comes is thrown away, and nobody can hold it open. */
export function endSocket(socket: Duplex): void {
  if (socket.destroyed) return;
  socket.removeAllListeners('data');
  socket.on('error', () => socket.destroy());
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), GRACE_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(() => socket.destroy());
}
