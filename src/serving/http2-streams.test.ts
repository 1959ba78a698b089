import { connect, createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { useStreamTable } from './http2-streams.ts';

test('a session with the table opens, ends and destroys streams as it would without', async () => {
  const sessions: ServerHttp2Session[] = [];
  const server = createServer((request, response) => void (request.url === '/held' || response.end(request.url)));
  server.on('session', (session) => {
    useStreamTable(session);
    sessions.push(session);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.on('error', () => {});
  const answers = await Promise.all(
    Array.from(
      { length: 150 },
      (_, index) =>
        new Promise<string>((resolve) => {
          let text = '';
          client
            .request({ ':path': `/${index}` })
            .setEncoding('utf8')
            .on('data', (piece: string) => (text += piece))
            .on('end', () => resolve(text));
        }),
    ),
  );
  expect(answers).toEqual(Array.from({ length: 150 }, (_, index) => `/${index}`));
  const held = client.request({ ':path': '/held' });
  held.on('error', () => {});
  await new Promise((resolve) => server.once('stream', resolve));
  const closed = new Promise((resolve) => held.once('close', resolve));
  sessions[0]!.destroy();
  await closed;
  await new Promise((resolve) => server.close(resolve));
});
