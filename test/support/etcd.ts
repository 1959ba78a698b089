import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { EtcdClient } from '../../src/storage/engines/etcd/client.ts';
import { RANGE, encodeRange } from '../../src/storage/engines/etcd/messages.ts';
import type { GrpcTls } from '../../src/grpc/channel.ts';
import { findEtcd } from './find-etcd.ts';
import { freePorts } from './free-ports.ts';

/** The server's own certificate and key, and the authority of both sides, as files; clients must show a certificate too. */
export interface EtcdTlsFiles {
  certFile: string;
  keyFile: string;
  caFile: string;
}

interface EtcdOptions {
  /** Default: 1. */
  members?: number;
  tls?: EtcdTlsFiles;
  /** What the client that waits for the cluster shows. */
  clientTls?: GrpcTls;
  args?: readonly string[];
}

/** False where tests against etcd are to be skipped; summary-reporter.ts says so at the end of the run. CI has etcd, and fails without it. */
export function hasEtcd(): boolean {
  return findEtcd() !== undefined || Boolean(process.env['CI']);
}

const clusters = new Set<EtcdCluster>();

afterAll(() => Promise.all([...clusters].map((cluster) => cluster.stop())));

/** A cluster of real members on free ports, in a folder of its own; it ends with the test file. Resolves when it can be written to. */
export async function startEtcd(options: EtcdOptions = {}): Promise<EtcdCluster> {
  const binary = findEtcd();
  if (binary === undefined) throw new Error('there is no etcd: see hasEtcd');
  const ports = await freePorts((options.members ?? 1) * 2);
  const cluster = new EtcdCluster(binary, ports, options);
  clusters.add(cluster);
  await cluster.whenReady();
  return cluster;
}

export class EtcdCluster {
  readonly endpoints: readonly string[];
  readonly members: readonly EtcdMember[];
  readonly #folder = mkdtempSync(join(tmpdir(), 'binnacle-etcd-'));
  readonly #clientTls: GrpcTls | undefined;

  constructor(binary: string, ports: readonly number[], { tls, clientTls, args = [] }: EtcdOptions) {
    const scheme = tls ? 'https' : 'http';
    const names = Array.from({ length: ports.length / 2 }, (_, index) => `m${index}`);
    this.endpoints = names.map((_, index) => `${scheme}://127.0.0.1:${ports[index * 2]}`);
    const peers = names.map((_, index) => `http://127.0.0.1:${ports[index * 2 + 1]}`);
    this.#clientTls = clientTls;
    this.members = names.map(
      (name, index) =>
        new EtcdMember(binary, [
          `--name=${name}`,
          `--data-dir=${join(this.#folder, name)}`,
          `--listen-client-urls=${this.endpoints[index]}`,
          `--advertise-client-urls=${this.endpoints[index]}`,
          `--listen-peer-urls=${peers[index]}`,
          `--initial-advertise-peer-urls=${peers[index]}`,
          `--initial-cluster=${names.map((other, i) => `${other}=${peers[i]}`).join(',')}`,
          '--log-level=error',
          '--logger=zap',
          ...(tls ? [`--cert-file=${tls.certFile}`, `--key-file=${tls.keyFile}`, `--trusted-ca-file=${tls.caFile}`, '--client-cert-auth=true'] : []),
          ...args,
        ]),
    );
  }

  /** Until a linearizable read is answered. */
  async whenReady(): Promise<void> {
    const client = new EtcdClient({ endpoints: this.endpoints, tls: this.#clientTls });
    try {
      const endMs = performance.now() + READY_MS;
      for (;;) {
        try {
          await client.read(RANGE, encodeRange({ key: 'ready' }), { timeoutMs: 5_000 });
          return;
        } catch (error) {
          if (performance.now() > endMs) throw error;
          await delay(200);
        }
      }
    } finally {
      client.close();
    }
  }

  async stop(): Promise<void> {
    clusters.delete(this);
    await Promise.all(this.members.map((member) => member.kill()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Members that all began anew elect a leader in a second or two; on a machine that has no time for them they vote again and again. */
const READY_MS = 180_000;

/** One process, which may be killed, paused and started again on its data. */
export class EtcdMember {
  readonly #binary: string;
  readonly #args: readonly string[];
  #child!: ChildProcess;
  #exited!: Promise<void>;

  constructor(binary: string, args: readonly string[]) {
    this.#binary = binary;
    this.#args = args;
    this.start();
  }

  start(): void {
    const child = spawn(this.#binary, this.#args, { stdio: ['ignore', 'ignore', 'ignore'] });
    this.#child = child;
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
  }

  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  /** kill -9 */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
