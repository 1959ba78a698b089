import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OUTER_HOST } from '../../support/outer-host.ts';
import { type Attack, type AttackClients, inNamespace } from '../attack.ts';

/** A pod whose server answers every request with this page. */
async function podWith(name: string, html: string, { admin, onEnd }: AttackClients): Promise<void> {
  const backend = createServer((_request, response) => void response.setHeader('content-type', 'text/html').end(html)).listen(0, OUTER_HOST);
  onEnd(() => backend.close().closeAllConnections());
  await once(backend, 'listening');
  const { port } = backend.address() as AddressInfo;
  const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: port }] }];
  await admin.create(inNamespace('v1', 'pods'), { metadata: { name }, spec: { containers } });
  await admin.expect(200, {
    method: 'PATCH',
    path: inNamespace('v1', 'pods', `${name}/status`),
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { status: { podIP: OUTER_HOST, podIPs: [{ ip: OUTER_HOST }] } },
  });
}

const page = (name: string, row: number, html: string, pod: string, headers: Record<string, string> = {}): Attack => ({
  name,
  row,
  prepare: (clients) => podWith(pod, html, clients),
  send: ({ admin }) => admin.send({ path: inNamespace('v1', 'pods', `${pod}/proxy/`), headers }),
});

/** What stands behind a proxy, and what is asked of it. */
export const proxyAttacks: readonly Attack[] = [
  page('a page of a tag that does not end', 9, `<${'a'.repeat(60_000)}`, 'endless'),
  page('a page of attributes without values', 9, `<a ${'a'.repeat(30_000)}${' b'.repeat(15_000)}>`.repeat(20), 'attributes'),
  { ...page('an upgrade to nothing', 10, 'no upgrade', 'plain', { connection: 'upgrade' }), status: 500 },
];
