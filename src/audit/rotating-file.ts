import { chownSync, closeSync, createReadStream, createWriteStream, existsSync, mkdirSync, openSync, renameSync, statSync, write, writeSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import type { LogLine } from './encode-event.ts';
import { bytesOf } from './event.ts';
import { LineQueue } from './line-queue.ts';

export interface RotationOptions {
  /** Past this the file is put aside, and a new one begun. Infinity: never. */
  maxBytes: number;
  /** Files put aside longer ago are removed; 0: none. */
  maxAgeDays: number;
  /** So many files put aside are kept; 0: all. */
  maxBackups: number;
  /** Files put aside become `.gz`. */
  compresses: boolean;
  now?: () => Date;
}

/** Longer lines are written off the thread: the system may take its time for ten megabytes, or wait for the disk. */
const LONG_BYTES = 64 * 1024;

const writeOffThread = promisify(write);

const DAY_MS = 24 * 60 * 60 * 1000;
const GZIP_SUFFIX = '.gz';
const STAMP = /^(\d{4}-\d{2}-\d{2}T)(\d{2})-(\d{2})-(\d{2}\.\d{3})$/;

interface Backup {
  name: string;
  atMs: number;
}

/**
 * A file that is written line by line and rotates, with names as upstream's library gives them (natefinch/lumberjack): `audit.log` is the current one,
 * `audit-2026-01-02T15-04-05.000.log` one that was put aside then, in UTC. A line that was written is the operating system's: the death of this
 * process does not lose it.
 */
export class RotatingFile {
  readonly #path: string;
  readonly #options: RotationOptions;
  readonly #now: () => Date;
  #descriptor: number | undefined;
  #sizeBytes = 0;
  readonly #queue = new LineQueue();
  #tidying = Promise.resolve();

  /** Throws where the file cannot be made: what cannot be audited should not be served. */
  constructor(path: string, options: RotationOptions) {
    this.#path = path;
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
  }

  /** Throws, or rejects with, what the file system says, or that the line is longer than a file may be. */
  write(line: LogLine): Promise<void> | void {
    const pieces = typeof line === 'string' ? [Buffer.from(line)] : line;
    const lineBytes = bytesOf(pieces);
    const { maxBytes } = this.#options;
    if (lineBytes > maxBytes) throw new Error(`write length ${lineBytes} exceeds maximum file size ${maxBytes}`);
    return this.#queue.add(() => {
      if (this.#descriptor === undefined) this.#open(lineBytes);
      else if (this.#sizeBytes + lineBytes > maxBytes) this.#rotate();
      if (lineBytes > LONG_BYTES) return this.#appendLong(pieces);
      for (const piece of pieces) this.#append(piece);
    });
  }

  #append(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      const written = writeSync(this.#descriptor!, bytes, at);
      at += written;
      this.#sizeBytes += written;
    }
  }

  async #appendLong(pieces: readonly Buffer[]): Promise<void> {
    for (const bytes of pieces) {
      for (let at = 0; at < bytes.length;) {
        const { bytesWritten } = await writeOffThread(this.#descriptor!, bytes, at);
        at += bytesWritten;
        this.#sizeBytes += bytesWritten;
      }
    }
  }

  /** Resolves when old files are compressed and removed, too. */
  async close(): Promise<void> {
    await this.#queue.drain();
    this.#closeFile();
    await this.#tidying;
  }

  #open(lineBytes: number): void {
    this.#tidy();
    const sizeBytes = existsSync(this.#path) ? statSync(this.#path).size : 0;
    if (sizeBytes + lineBytes >= this.#options.maxBytes) return this.#rotate();
    this.#descriptor = openSync(this.#path, 'a', 0o600);
    this.#sizeBytes = sizeBytes;
  }

  #rotate(): void {
    this.#closeFile();
    mkdirSync(dirname(this.#path), { recursive: true });
    const old = existsSync(this.#path) ? statSync(this.#path) : undefined;
    if (old) renameSync(this.#path, this.#backupPath());
    this.#descriptor = openSync(this.#path, 'w', old ? old.mode & 0o777 : 0o600);
    this.#sizeBytes = 0;
    // Only root may give files away; for others the file is theirs already.
    if (old && process.getuid?.() === 0) chownSync(this.#path, old.uid, old.gid);
    this.#tidy();
  }

  #closeFile(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Never the name of a file that is there: two rotations in one millisecond would lose the first file. */
  #backupPath(): string {
    for (let atMs = this.#now().getTime(); ; atMs++) {
      const stamp = new Date(atMs).toISOString().slice(0, -1).replaceAll(':', '-');
      const { stem, extension } = this.#nameParts();
      const path = join(dirname(this.#path), `${stem}${stamp}${extension}`);
      if (!existsSync(path) && !existsSync(path + GZIP_SUFFIX)) return path;
    }
  }

  #nameParts(): { stem: string; extension: string } {
    const extension = extname(this.#path);
    return { stem: `${basename(this.#path, extension)}-`, extension };
  }

  /** In the background, one after the other; a failure leaves files for the next time. */
  #tidy(): void {
    const { maxAgeDays, maxBackups, compresses } = this.#options;
    if (maxAgeDays === 0 && maxBackups === 0 && !compresses) return;
    this.#tidying = this.#tidying.then(() => this.#removeAndCompress()).catch(() => undefined);
  }

  async #removeAndCompress(): Promise<void> {
    const { maxAgeDays, maxBackups, compresses } = this.#options;
    const oldestMs = maxAgeDays === 0 ? -Infinity : this.#now().getTime() - maxAgeDays * DAY_MS;
    const kept = new Set<string>();
    for (const { name, atMs } of await this.#backups()) {
      const path = join(dirname(this.#path), name);
      const isCompressed = name.endsWith(GZIP_SUFFIX);
      // A file and what was begun of its compressed form count once.
      kept.add(isCompressed ? name.slice(0, -GZIP_SUFFIX.length) : name);
      if ((maxBackups > 0 && kept.size > maxBackups) || atMs < oldestMs) await rm(path, { force: true });
      else if (compresses && !isCompressed) await compress(path);
    }
  }

  /** The newest first. */
  async #backups(): Promise<Backup[]> {
    const { stem, extension } = this.#nameParts();
    const backups: Backup[] = [];
    for (const name of await readdir(dirname(this.#path))) {
      const plain = name.endsWith(`${extension}${GZIP_SUFFIX}`) ? name.slice(0, -GZIP_SUFFIX.length) : name;
      if (!plain.startsWith(stem) || !plain.endsWith(extension)) continue;
      const stamp = STAMP.exec(plain.slice(stem.length, plain.length - extension.length));
      const atMs = stamp ? Date.parse(`${stamp[1]}${stamp[2]}:${stamp[3]}:${stamp[4]}Z`) : NaN;
      if (!Number.isNaN(atMs)) backups.push({ name, atMs });
    }
    return backups.toSorted((a, b) => b.atMs - a.atMs);
  }
}

async function compress(path: string): Promise<void> {
  const target = path + GZIP_SUFFIX;
  try {
    const { mode } = await stat(path);
    await pipeline(createReadStream(path), createGzip(), createWriteStream(target, { mode: mode & 0o777 }));
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
  await rm(path);
}
