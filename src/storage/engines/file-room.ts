import { type FileHandle, open } from 'node:fs/promises';

/** So much more is made than is asked for, by the size of the file, so that a store that grows seldom asks for it: asking takes two trips to another thread. */
const aheadBytes = (sizeBytes: number): number => Math.min(Math.max(sizeBytes / 16, 64 * 1024), 1024 * 1024);
const ZEROS = Buffer.alloc(64 * 1024);

/**
 * Room at the end of a file, taken before it is needed, so that a disk that is full is noticed here. In LMDB it would be noticed by a write that fails, and
 * those leave its memory broken: the process dies of it a little later. What is added are zeros, always behind the end as it is then (O_APPEND), so that
 * nothing can be written over.
 */
export class FileRoom {
  readonly #path: string;
  #file: FileHandle | undefined;
  #sizeBytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** The file has this size at least once this is true; it resolves to it where the room has to be made, and rejects with the system's error where there is none. */
  ensure(sizeBytes: number): true | Promise<void> {
    return sizeBytes <= this.#sizeBytes || this.#extend(sizeBytes);
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #extend(sizeBytes: number): Promise<void> {
    this.#file ??= await open(this.#path, 'a');
    this.#sizeBytes = (await this.#file.stat()).size;
    if (sizeBytes <= this.#sizeBytes) return;
    try {
      for (const wantedBytes = sizeBytes + aheadBytes(sizeBytes); this.#sizeBytes < wantedBytes;) {
        const { bytesWritten } = await this.#file.write(ZEROS, 0, Math.min(ZEROS.length, wantedBytes - this.#sizeBytes));
        this.#sizeBytes += bytesWritten;
      }
    } catch (error) {
      if (this.#sizeBytes < sizeBytes) throw error;
    }
  }
}
