import type { GrpcTarget, GrpcTls } from '../../../grpc/channel.ts';
import { StorageMisconfigured } from '../../engine.ts';

const DEFAULT_PORT = 2379;

/** Where `http://host:port`, `https://host:port`, `unix://path` or plain `host:port` leads. Throws StorageMisconfigured. */
export function targetOf(endpoint: string, tls: GrpcTls | undefined): GrpcTarget {
  const socketPath = /^unixs?:\/\/(.+)$/.exec(endpoint)?.[1];
  if (socketPath !== undefined) return { socketPath };
  const hasScheme = endpoint.includes('://');
  const text = hasScheme ? endpoint : `http://${endpoint}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '' || !['http:', 'https:'].includes(url.protocol)) {
    throw new StorageMisconfigured(`${JSON.stringify(endpoint)} is not the address of an etcd server: one looks like https://10.0.0.1:2379`);
  }
  // As etcd's own client: certificates make every connection secure, but for an endpoint that says http.
  const isSecure = url.protocol === 'https:' || (!hasScheme && tls !== undefined);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port);
  return isSecure ? { host, port, tls: tls ?? {} } : { host, port };
}
