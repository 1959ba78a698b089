import { readFile, stat } from 'node:fs/promises';
import type { Node } from '../../apis/facts/types/core-v1.ts';
import type { Client } from '../../client/client.ts';
import type { TlsTarget } from '../../serving/tls-dialer.ts';
import { Transport } from '../../serving/proxy/transport.ts';
import { type Dial, dialDirectly } from '../../net/dial.ts';
import { linkSignals } from '../../util/linked-signal.ts';
import { notFound, unknownError } from '../../api/errors.ts';
import { guardedDial } from '../proxy/guarded-dial.ts';

/** How kubelets are reached: the --kubelet-* flags. */
export interface KubeletOptions {
  /** Which of a node's addresses to take, best first. */
  preferredAddressTypes: readonly string[];
  /** Where a node does not say its port. */
  port: number;
  /** For a connection to stand; its TLS handshake has ten seconds more, as upstream gives it. 0 means as long as it takes. */
  timeoutMs: number;
  /** Absent: kubelets' certificates are not verified, as upstream has it. */
  certificateAuthorityFile?: string | undefined;
  clientCertificateFile?: string | undefined;
  clientKeyFile?: string | undefined;
  /** Another way to nodes than directly: egress, or a test's. */
  dial?: Dial | undefined;
  /** --max-connection-bytes-per-sec */
  upgradedBytesPerSecond?: number | undefined;
}

/** The kubelet of one node. */
export interface Kubelet {
  host: string;
  port: number;
  transport: Transport;
  /** Reaches the same kubelet without asking who it is. */
  unverifiedTransport: Transport;
  /** For proxies: reaches it only at an address that may be proxied to. */
  guardedTransport: Transport;
  /** What the kubelet says that it can do (status.declaredFeatures). */
  features: readonly string[];
}

interface Transports {
  secure: Transport;
  unverified: Transport;
  guarded: Transport;
}

/** Certificates are looked at again after so long: they are renewed under us. */
const CHECK_FILES_MS = 10_000;

/** Connections to the kubelets of a cluster (pkg/kubelet/client/kubelet_client.go). */
export class Kubelets {
  readonly #client: Client;
  readonly #options: KubeletOptions;
  readonly #now: () => number;
  #transports: (Transports & { files: string }) | undefined;
  readonly #closing = new AbortController();
  #checking: Promise<Transports> | undefined;
  #checkedAtMs = -Infinity;

  constructor(client: Client, options: KubeletOptions, now: () => number = () => performance.now()) {
    this.#client = client;
    this.#options = options;
    this.#now = now;
  }

  /** Throws where the node is not there, named by the resource that is asked for, as upstream's store does, or has no address of the types that we take. */
  async of(nodeName: string, asked: 'nodes' | 'pods'): Promise<Kubelet> {
    const node = await this.#client.resource<Node>('', 'nodes').get('', nodeName);
    if (!node) throw notFound({ group: '', resource: asked }, nodeName);
    const host = this.#addressOf(node);
    const port = node.status.daemonEndpoints?.kubeletEndpoint?.Port;
    const { secure, unverified, guarded } = await this.#currentTransports();
    return {
      host,
      port: port !== undefined && port > 0 ? port : this.#options.port,
      transport: secure,
      unverifiedTransport: unverified,
      guardedTransport: guarded,
      features: node.status.declaredFeatures ?? [],
    };
  }

  /** Aborts when all connections are to end: those that were upgraded are their users' to end. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Ends every connection. */
  close(): void {
    this.#closing.abort(new Error('the server is shutting down'));
    if (this.#transports) for (const transport of transportsOf(this.#transports)) transport.close();
  }

  #addressOf({ status }: Node): string {
    const addresses = status.addresses ?? [];
    for (const wanted of this.#options.preferredAddressTypes) {
      const found = addresses.find(({ type }) => type === wanted);
      if (found) return found.address;
    }
    throw unknownError(`no preferred addresses found; known addresses: [${addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')}]`);
  }

  /** New ones where a file has changed; what is open on the old ones goes on. All who ask meanwhile wait for the same look at the files. */
  async #currentTransports(): Promise<Transports> {
    if (this.#transports && this.#now() - this.#checkedAtMs < CHECK_FILES_MS) return this.#transports;
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<Transports> {
    this.#checkedAtMs = this.#now();
    const { certificateAuthorityFile, clientCertificateFile, clientKeyFile } = this.#options;
    const paths = [certificateAuthorityFile, clientCertificateFile, clientKeyFile];
    try {
      const files = (await Promise.all(paths.map(versionOf))).join(' ');
      if (this.#transports?.files === files) return this.#transports;
      const [caPem, certPem, keyPem] = await Promise.all(paths.map(read));
      const clientCertificate = certPem !== undefined && keyPem !== undefined ? { certPem, keyPem } : undefined;
      const old = this.#transports;
      this.#transports = { ...this.#open(caPem, clientCertificate), files };
      if (old) for (const transport of transportsOf(old)) transport.retire();
      return this.#transports;
    } catch (error) {
      // In the middle of being renewed, say: what we have still stands.
      if (this.#transports) return this.#transports;
      throw error;
    }
  }

  #open(caPem: string | undefined, clientCertificate: TlsTarget['clientCertificate']): Transports {
    const dial = withinTime(this.#options.dial ?? dialDirectly, this.#options.timeoutMs);
    const { upgradedBytesPerSecond } = this.#options;
    const tls = { caPem, isUnverified: caPem === undefined, clientCertificate };
    return {
      secure: new Transport({ dial, tls, upgradedBytesPerSecond }),
      guarded: new Transport({ dial: guardedDial(dial), tls, upgradedBytesPerSecond }),
      unverified: new Transport({ dial, tls: { isUnverified: true, clientCertificate }, upgradedBytesPerSecond }),
    };
  }
}

const transportsOf = ({ secure, unverified, guarded }: Transports): Transport[] => [secure, unverified, guarded];

const read = async (path: string | undefined): Promise<string | undefined> => (path ? readFile(path, 'utf8') : undefined);

async function versionOf(path: string | undefined): Promise<string> {
  if (!path) return '';
  const { mtimeMs, size, ino } = await stat(path);
  return `${mtimeMs}/${size}/${ino}`;
}

/** Go's words for what takes too long. */
const withinTime = (dial: Dial, timeoutMs: number): Dial => {
  if (timeoutMs <= 0) return dial;
  return async (host, port, signal) => {
    const tooLate = new AbortController();
    const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    const timer = setTimeout(() => tooLate.abort(new Error(`dial tcp ${address}: i/o timeout`)), timeoutMs);
    const { signal: either, release } = linkSignals(signal, tooLate.signal);
    try {
      return await dial(host, port, either);
    } finally {
      clearTimeout(timer);
      release();
    }
  };
};
