import { type SubresourceAction, withActions } from '../../apis/define.ts';
import type { Client } from '../../client/client.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import { podBinding } from './binding.ts';
import { podEviction } from './eviction.ts';
import { podLog } from './pod-log.ts';
import { containerStream, portForward, type StreamOptions } from './pod-streams.ts';
import { nodeProxy, podProxy, serviceProxy } from './proxies.ts';
import type { ProxyTransports } from '../proxy/transports.ts';
import { type TokenIssuerOptions, tokenRequest } from './token-request.ts';

export interface ActionOptions extends StreamOptions {
  client: Client;
  proxyTransports: ProxyTransports;
  /** Absent where tokens are not signed here. */
  tokenIssuer: TokenIssuerOptions | undefined;
  now: () => Date;
}

/** Puts behind the subresources of core kinds what they do. */
export function withKubeActions(options: ActionOptions): (definition: ResourceDefinition) => ResourceDefinition {
  const { client, tokenIssuer, kubelets, proxyTransports, now } = options;
  const stream = containerStream(options);
  const byPlural = new Map<string, Record<string, SubresourceAction>>([
    [
      'pods',
      {
        binding: podBinding(options),
        eviction: podEviction(client, now),
        log: podLog(options),
        exec: stream,
        attach: stream,
        portforward: portForward(options),
        proxy: podProxy(proxyTransports),
      },
    ],
    ['services', { proxy: serviceProxy(client, proxyTransports) }],
    ['nodes', { proxy: nodeProxy(kubelets, proxyTransports) }],
    ['serviceaccounts', tokenIssuer ? { token: tokenRequest(tokenIssuer, options) } : {}],
  ]);
  return (definition) => {
    const actions = definition.group === '' ? byPlural.get(definition.plural) : undefined;
    return actions ? withActions(definition, actions) : definition;
  };
}
