import { networkInterfaces } from 'node:os';

/** An address of this machine that is not loopback: proxies and endpoints refuse those. */
export const OUTER_HOST = Object.values(networkInterfaces())
  .flat()
  .find((each) => each !== undefined && !each.internal && each.family === 'IPv4')!.address;
