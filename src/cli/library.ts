import { join } from 'node:path';
import type * as bundle from './bundle.ts';
import { loadBundle } from './code-cache.ts';

// What a program that imports the package gets: src/index.ts, out of the bundle.
export const { startServer } = loadBundle<typeof bundle>(join(__dirname, 'bundle.js')).exports;
