import { writeSync } from 'node:fs';
import { openEmbeddedEngine } from './embedded.ts';

/**
 * The program that crash.test.ts runs and kills: `crash-writer <folder> <writers> <value bytes>`. Each writer makes and changes keys of its own, and says
 * so, one line a commit, once the engine has answered: `<key> <revision>`, or `! <message>` for a refusal, whereupon it waits a little.
 */
const [folder = '', writers = '1', valueBytes = '100'] = process.argv.slice(2);

const say = (line: string): void => void writeSync(1, `${line}\n`);

async function write(engine: Awaited<ReturnType<typeof openEmbeddedEngine>>, writer: number): Promise<void> {
  const value = Buffer.alloc(Number(valueBytes), 'v');
  const own = `/own/${writer}`;
  for (let i = 0; ; i++) {
    const key = i % 2 === 0 ? own : `/made/${process.pid}/${writer}/${i}`;
    try {
      const expected = (await engine.get(key))?.revision ?? 0;
      say(`${key} ${await engine.commit({ type: 'put', key, value, expected })}`);
    } catch (error) {
      say(`! ${(error as Error).message}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

try {
  const engine = await openEmbeddedEngine({ folder });
  await Promise.all(Array.from({ length: Number(writers) }, (_, writer) => write(engine, writer)));
} catch (error) {
  say(`! ${(error as Error).message}`);
}
