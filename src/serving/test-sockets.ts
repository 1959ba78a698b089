import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { afterEach } from 'vitest';

/** For tests: both ends of a TCP connection, which ends with the test. */
export async function socketPair(): Promise<[client: Socket, server: Socket]> {
  const listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const accepted = once(listener, 'connection') as Promise<[Socket]>;
  const client = connect({ port: (listener.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [server] = await accepted;
  listener.close();
  open.push(client, server);
  return [client, server];
}

const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});
