import { Transport } from '../../serving/proxy/transport.ts';
import type { Dial } from '../../net/dial.ts';
import { guardedDial } from './guarded-dial.ts';

/** Connections to pods, and to ports of nodes other than their kubelet's. Nobody vouches for their certificates, as upstream has it. */
export class ProxyTransports {
  readonly #plain: Transport;
  readonly #tls: Transport;

  constructor(dial: Dial, upgradedBytesPerSecond = 0) {
    const options = { dial: guardedDial(dial), upgradedBytesPerSecond };
    this.#plain = new Transport(options);
    this.#tls = new Transport({ ...options, tls: { isUnverified: true } });
  }

  /** '' is http. */
  of(scheme: string): Transport {
    return scheme === 'https' ? this.#tls : this.#plain;
  }

  close(): void {
    this.#plain.close();
    this.#tls.close();
  }
}
