import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder, which goes when the last server that has it has stopped. */
export class SharedFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'binnacle-'));
  #users = 1;

  share(): this {
    this.#users++;
    return this;
  }

  release(): void {
    if (--this.#users === 0) rmSync(this.path, { recursive: true, force: true });
  }
}
