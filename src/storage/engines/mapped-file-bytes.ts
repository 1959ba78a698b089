import { readFileSync } from 'node:fs';

const BYTES_A_KIB = 1024;

/** How much of this process' memory are mapped files; undefined where the system does not tell (proc_pid_status(5)). */
export function mappedFileBytes(): number | undefined {
  try {
    const kib = /^RssFile:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1];
    return kib === undefined ? undefined : Number(kib) * BYTES_A_KIB;
  } catch {
    return undefined;
  }
}
