import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { PrimaryMessage } from './settings.ts';

/** Connections that wait for a worker, beyond which new ones are closed: while no worker runs, nothing else bounds them. */
const MAX_WAITING = 4_096;

/**
 * Hands the connections of one port to worker processes in turn. A connection stays open here until its worker says that it has it, which it says before it reads
 * from it, so that what a worker that dies has not taken goes to the next one. Each is handed one at a time: one that stands still holds up no more than that.
 *
 * `node:cluster` deals in the same way, but forgets a connection that was on its way to a worker that dies; a listening socket that all workers accept from, or
 * one of each (`SO_REUSEPORT`), is not dealt evenly, or loses the queue of the one that dies.
 */
export class ConnectionDealer {
  /** Who can be handed a connection; the first one is next. */
  readonly #idle: ChildProcess[] = [];
  readonly #members = new Set<ChildProcess>();
  readonly #onTheirWay = new Map<ChildProcess, Socket>();
  readonly #waiting: Socket[] = [];
  #isClosed = false;

  /** Nobody takes connections. */
  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  /** A worker that takes connections from now on. */
  join(worker: ChildProcess): void {
    this.#members.add(worker);
    this.#idle.push(worker);
    // This comes behind the last message of the worker: whatever it has taken, it has said so. (There is no 'disconnect' while a socket is on its way.)
    worker.once('close', () => this.giveBack(worker));
    this.#deal();
  }

  /** It is handed nothing more; what is on its way to it, it may take. */
  leave(worker: ChildProcess): void {
    this.#members.delete(worker);
    const at = this.#idle.indexOf(worker);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  offer(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    if (this.#isClosed || this.#waiting.length >= MAX_WAITING) return void socket.destroy();
    this.#waiting.push(socket);
    this.#deal();
  }

  /** The worker has what it was handed. */
  taken(worker: ChildProcess): void {
    // Closes the descriptor of this process alone.
    this.#onTheirWay.get(worker)?.destroy();
    this.#onTheirWay.delete(worker);
    if (!this.#members.has(worker)) return;
    this.#idle.push(worker);
    this.#deal();
  }

  /** The worker takes nothing any more; nor has it what it was handed last, unless it has said so. */
  giveBack(worker: ChildProcess): void {
    this.leave(worker);
    const socket = this.#onTheirWay.get(worker);
    if (!socket) return;
    this.#onTheirWay.delete(worker);
    if (this.#isClosed) return void socket.destroy();
    this.#waiting.unshift(socket);
    this.#deal();
  }

  /** Those who wait are cut off, as whoever comes. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  }

  #deal(): void {
    while (this.#waiting.length > 0 && this.#idle.length > 0) {
      const worker = this.#idle.shift()!;
      if (!worker.connected) continue;
      const socket = this.#waiting.shift()!;
      this.#onTheirWay.set(worker, socket);
      const message: PrimaryMessage = { type: 'connection' };
      // Where this fails the worker is gone, which 'close' tells too.
      worker.send(message, socket, { keepOpen: true }, () => undefined);
    }
  }
}
