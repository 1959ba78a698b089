import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { Dial } from '../../net/dial.ts';
import { guardedDial, proxyableAddress } from './guarded-dial.ts';

const never = new AbortController().signal;
const resolvesTo =
  (...answers: string[][]) =>
  (): Promise<string[]> =>
    Promise.resolve(answers.shift()!);

/** CVE-2020-8555, CVE-2022-3294. */
test.each(['127.0.0.1', '::1', '169.254.169.254', 'fe80::1', '0.0.0.0', '::', '224.0.0.1', 'localhost'])('%s is not proxied to', async (host) => {
  await expect(proxyableAddress(host)).rejects.toThrow('address not allowed');
});

test('one bad address of a name is enough; a name without any is no place', async () => {
  await expect(proxyableAddress('both.example.com', resolvesTo(['192.0.2.1', '127.0.0.1']))).rejects.toThrow('address not allowed');
  await expect(proxyableAddress('none.example.com', resolvesTo([]))).rejects.toThrow('no addresses for hostname');
  await expect(proxyableAddress('no.such.host.invalid')).rejects.toThrow('lookup no.such.host.invalid: no such host');
});

test('the address that was looked at is the one that is dialled, however a name answers afterwards (CVE-2020-8562)', async () => {
  const dialled: string[] = [];
  const dial: Dial = (host) => {
    dialled.push(host);
    return Promise.resolve(new Socket());
  };
  const guarded = guardedDial(dial, resolvesTo(['192.0.2.1'], ['127.0.0.1']));
  await guarded('rebound.example.com', 80, never);
  await expect(guarded('rebound.example.com', 80, never)).rejects.toThrow('address not allowed');
  expect(dialled).toEqual(['192.0.2.1']);
});
