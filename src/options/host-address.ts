import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

/** What completion asks of the machine; given in by tests. */
export interface Host {
  hostname(): string;
  /** An address by which others reach this machine: of the interface of the default route, else of any; undefined when it has none. */
  outsideAddress(family: 4 | 6): string | undefined;
}

export const thisHost: Host = {
  hostname,
  outsideAddress(family) {
    const interfaces = Object.entries(networkInterfaces());
    const routed = defaultRouteInterface();
    const inOrder = [...interfaces.filter(([name]) => name === routed), ...interfaces.filter(([name]) => name !== routed)];
    return inOrder.flatMap(([, addresses]) => addresses ?? []).find(({ address, internal }) => !internal && isIP(address) === family && !isLinkLocal(address))
      ?.address;
  },
};

const isLinkLocal = (address: string): boolean => /^(169\.254\.|fe[89ab])/i.test(address);

/** From Linux's table of IPv4 routes: interface, destination, gateway, …; the default route has destination 0. */
function defaultRouteInterface(): string | undefined {
  try {
    const [, ...rows] = readFileSync('/proc/net/route', 'utf8').split('\n');
    return rows.map((row) => row.split('\t')).find(([, destination]) => destination === '00000000')?.[0];
  } catch {
    return undefined;
  }
}
