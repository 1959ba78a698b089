import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { engineContract } from './contract.ts';
import { openEmbeddedEngine } from './embedded.ts';

const root = mkdtempSync(join(tmpdir(), 'binnacle-embedded-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const newFolder = (): string => mkdtempSync(join(root, 'store-'));

engineContract('embedded engine', (options) => openEmbeddedEngine({ ...options, folder: newFolder() }));
