import { readFileSync } from 'node:fs';
import type { ServerProcess } from './server.ts';

/** Of the children of the primary (`--workers`), which are nothing but workers. */
export function workerPids({ child: { pid } }: ServerProcess): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}
