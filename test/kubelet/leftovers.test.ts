import { setTimeout } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { POD_PATH, TestCluster } from './cluster.ts';
import type { TestKubelet } from './kubelet.ts';
import { type RawClient, spdy, webSocket } from './raw-client.ts';

/* What streams leave behind in the server's process: nothing. The server, the kubelet and the clients are all in this process. */

let cluster: TestCluster;
let kubelet: TestKubelet;
let pod: string;

beforeAll(async () => {
  cluster = await TestCluster.startHere();
  const node = await cluster.node();
  kubelet = node.kubelet;
  pod = await cluster.pod(node.name);
  kubelet.log(`default/${pod}/main`).append('hello');
  // The first ones open what is kept: caches, pools.
  await use(1, follow);
  await use(1, command);
});

const follow = async (): Promise<RawClient> => {
  const client = cluster.open('GET', `${POD_PATH}/${pod}/log?follow=true`, { connection: 'close' });
  await client.until('hello');
  return client;
};

const command = async (): Promise<RawClient> => {
  const client = cluster.open('GET', `${POD_PATH}/${pod}/exec?command=cat&stdin=1&stdout=1`, webSocket('v5.channel.k8s.io'));
  await client.until('\u0001');
  client.send(Buffer.from('\0hello'));
  await client.until('hello');
  return client;
};

const forward = async (): Promise<RawClient> => {
  const client = cluster.open('GET', `${POD_PATH}/${pod}/portforward`, webSocket('SPDY/3.1+portforward.k8s.io'));
  await client.until('\r\n\r\n');
  return client;
};

const plainSpdy = async (): Promise<RawClient> => {
  const client = cluster.open('POST', `${POD_PATH}/${pod}/exec?command=cat&stdin=1&stdout=1`, spdy('v5.channel.k8s.io'));
  await client.until('\r\n\r\n');
  return client;
};

async function use(count: number, open: () => Promise<RawClient>): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, open));
  for (const client of clients) client.socket.destroy();
  await quiet();
}

interface Resources {
  sockets: number;
  timers: number;
  processes: number;
}

/** Of this process. */
function resources(): Resources {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  const { TCPSocketWrap = 0, Timeout = 0, ProcessWrap = 0 } = counts;
  return { sockets: TCPSocketWrap, timers: Timeout, processes: ProcessWrap };
}

/** Waits until it is so, and fails where it does not become so. */
async function settled(isSo: () => void): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    // Its timer is over when the state is looked at.
    await setTimeout(20);
    try {
      return isSo();
    } catch {
      // not yet
    }
  }
  isSo();
}

/** The kubelet has no one left: no connection, no process, no follower. */
const quiet = (): Promise<void> =>
  settled(() => expect([kubelet.children.size, kubelet.log(`default/${pod}/main`).followers, kubelet.sockets.size]).toEqual([0, 0, 0]));

function expectNoMoreThan(before: Resources): void {
  const now = resources();
  // Whose they are cannot be told, and some that were there before may have gone.
  expect(Object.entries(now).filter(([name, count]) => count > before[name as keyof Resources])).toEqual([]);
}

test('200 followers of a log', async () => {
  const before = resources();
  await use(200, follow);
  await settled(() => expectNoMoreThan(before));
});

test('1,000 connections that are cut, at any moment', async () => {
  const before = resources();
  const kinds = [follow, command, forward, plainSpdy];
  for (let round = 0; round < 20; round++) {
    const clients = await Promise.all(Array.from({ length: 50 }, (_, index) => started(kinds[index % kinds.length]!, index + round)));
    for (const client of clients) client?.socket.destroy();
  }
  await quiet();
  await settled(() => expectNoMoreThan(before));
}, 180_000);

/** Every third is cut before it stands. */
async function started(open: () => Promise<RawClient>, index: number): Promise<RawClient | undefined> {
  if (index % 3 !== 0) return open();
  const path = [`log?follow=true`, 'exec?command=cat&stdin=1&stdout=1', 'portforward'][index % 3]!;
  const client = cluster.open('GET', `${POD_PATH}/${pod}/${path}`, webSocket('v5.channel.k8s.io'));
  await new Promise((resolve) => setImmediate(resolve));
  return client;
}
