import { engineContract } from './contract.ts';
import { openMemoryEngine } from './memory.ts';

engineContract('memory engine', async (options) => openMemoryEngine(options));
