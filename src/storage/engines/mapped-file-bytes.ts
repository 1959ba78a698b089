import { readFileSync } from 'node:fs';

const PAGE_BYTES = 4096;

/** How much of this process' memory are mapped files; undefined where the system does not tell. */
export function mappedFileBytes(): number | undefined {
  try {
    // size, resident, shared, …: in pages (proc_pid_statm(5)).
    return Number(readFileSync('/proc/self/statm', 'latin1').split(' ', 3)[2]) * PAGE_BYTES;
  } catch {
    return undefined;
  }
}
