import { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { fetchWhole } from './fetch.ts';
import type { Transport } from './transport.ts';

/** A backend that answers without end. */
function endless() {
  const cancel = vi.fn<() => void>();
  let sentBytes = 0;
  const body = new Readable({
    read() {
      setImmediate(() => {
        sentBytes += 1024;
        this.push(Buffer.alloc(1024));
      });
    },
  });
  cancel.mockImplementation(() => void body.destroy());
  const transport = { send: () => ({ response: Promise.resolve({ status: 200, headers: {}, body }), cancel }) } as unknown as Transport;
  return { transport, cancel, sent: () => sentBytes };
}

const request = { host: 'backend', port: 443, path: '/apis', headers: {}, timeoutMs: 10_000, limitBytes: 10_000 };

test('an answer that is too long is an error', async () => {
  const { transport, cancel } = endless();
  await expect(fetchWhole(transport, request)).rejects.toThrow('Get "https://backend:443/apis": the answer is longer than 10000 bytes');
  expect(cancel).toHaveBeenCalledOnce();
});

test('but not where only its status is asked for, and no more of it is read', async () => {
  const { transport, cancel, sent } = endless();
  expect(await fetchWhole(transport, { ...request, wantsStatusOnly: true })).toEqual({ status: 200, headers: {}, body: Buffer.alloc(0) });
  expect(cancel).toHaveBeenCalledOnce();
  expect(sent()).toBeLessThan(200_000);
});
