import { randomUUID } from 'node:crypto';
import type { BootstrapOptions } from '../kube/bootstrap/hooks.ts';
import type { PeerAddress } from '../kube/bootstrap/peer-endpoints.ts';
import type { CompletedOptions } from '../options/completion.ts';
import type { Foundation } from './foundation.ts';
import type { ServingFiles } from './serving-files.ts';

/** What the kube server makes of itself at start, as the options have it. */
export function bootstrapOptions({ options, worker, image, files, securePort, report, now, isEnabled }: Foundation, isRbacOn: boolean): BootstrapOptions {
  const [primary, secondary] = options.serviceClusterIpRanges;
  return {
    report,
    now,
    isEnabled,
    cidrs: secondary === undefined ? [primary] : [primary, secondary],
    serviceIp: options.apiServerServiceIp,
    get securePort() {
      return securePort.value;
    },
    nodePort: options.kubernetesServiceNodePort,
    isRbacOn,
    isFairnessOn: options.enablePriorityAndFairness,
    isContinued: image !== undefined,
    advertiseAddress: options.reachableAddress,
    instanceId: worker?.settings.instanceId ?? randomUUID(),
    peerAddress: () => peerAddress(options, securePort.value),
    endpointReconciler: options.endpointReconcilerType as BootstrapOptions['endpointReconciler'],
    serverCount: options.apiserverCount,
    clientCa: () => files.clientCa?.current,
    requestHeader: () => requestHeaderTrust(options, files),
    onTrustChange(listener) {
      files.clientCa?.onChange(listener);
      files.requestHeaderCa?.onChange(listener);
    },
  };
}

/** Both flags count, or neither (pkg/controlplane/apiserver/peer.go, getPeerAddress). */
function peerAddress({ peerAdvertiseIp, peerAdvertisePort, reachableAddress }: CompletedOptions, securePort: number): PeerAddress | undefined {
  if (peerAdvertiseIp !== '' && peerAdvertisePort !== '') return { host: peerAdvertiseIp, port: peerAdvertisePort };
  const host = reachableAddress();
  return host === undefined ? undefined : { host, port: String(securePort) };
}

/** What aggregated servers are told of front proxies; undefined where there are none. */
function requestHeaderTrust(options: CompletedOptions, { requestHeaderCa }: ServingFiles): ReturnType<BootstrapOptions['requestHeader']> {
  if (!requestHeaderCa) return undefined;
  return {
    caPem: requestHeaderCa.current,
    usernameHeaders: options.requestheaderUsernameHeaders,
    uidHeaders: options.requestheaderUidHeaders,
    groupHeaders: options.requestheaderGroupHeaders,
    extraHeaderPrefixes: options.requestheaderExtraHeadersPrefix,
    allowedNames: options.requestheaderAllowedNames,
  };
}
