// What the built package consists of: `scripts/build.mjs` makes one file of all that this reaches.
export { runCommand } from './command.ts';
export { startServer } from '../index.ts';
