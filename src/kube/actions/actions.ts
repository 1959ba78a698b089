import { type Action, withActions } from '../../apis/define.ts';
import type { Client } from '../../client/client.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import { podBinding } from './binding.ts';
import { podEviction } from './eviction.ts';
import { containerStream, podLog, portForward, type StreamOptions } from './pod-streams.ts';
import { nodeProxy, podProxy, serviceProxy } from './proxies.ts';
import { type TokenIssuerOptions, tokenRequest } from './token-request.ts';

export interface ActionOptions extends StreamOptions {
  client: Client;
  /** Absent where tokens are not signed here. */
  tokenIssuer: TokenIssuerOptions | undefined;
  now: () => Date;
}

/** Puts behind the subresources of core kinds what they do. */
export function withKubeActions(options: ActionOptions): (definition: ResourceDefinition) => ResourceDefinition {
  const { client, tokenIssuer, preferredAddressTypes, now } = options;
  const stream = containerStream(options);
  const byPlural = new Map<string, Record<string, Action>>([
    [
      'pods',
      {
        binding: podBinding(now),
        eviction: podEviction(client, now),
        log: podLog(options),
        exec: stream,
        attach: stream,
        portforward: portForward(options),
        proxy: podProxy(),
      },
    ],
    ['services', { proxy: serviceProxy(client) }],
    ['nodes', { proxy: nodeProxy(client, preferredAddressTypes) }],
    ['serviceaccounts', tokenIssuer ? { token: tokenRequest(tokenIssuer, client, now) } : {}],
  ]);
  return (definition) => {
    const actions = definition.group === '' ? byPlural.get(definition.plural) : undefined;
    return actions ? withActions(definition, actions) : definition;
  };
}
