import { createRequire } from 'node:module';
import { join } from 'node:path';
import { inject } from 'vitest';
import type * as library from '../../src/index.ts';

/** The package as programs import it, from this run's build. */
export const { startServer } = createRequire(import.meta.url)(join(inject('distDir'), 'index.js')) as typeof library;
