import { flag, flagSet } from './flag.ts';
import { bool, duration, file, int, portRange, string, strings, uint } from './types.ts';

export const misc = flagSet('misc', {
  'aggregator-reject-forwarding-redirect': flag(bool, 'Refuse redirects of aggregated API servers instead of passing them on.', {
    default: true,
  }),
  'allow-privileged': flag(bool, 'Allow privileged containers.'),
  'apiserver-count': flag(int, 'API servers in the cluster, for --endpoint-reconciler-type=master-count.', {
    default: 1,
    deprecated: 'apiserver-count is deprecated and will be removed in a future version.',
    isHidden: true,
  }),
  'coordinated-leadership-lease-duration': flag(
    duration,
    'How long the lease lasts under which one of several servers elects leaders (CoordinatedLeaderElection).',
    { default: 15_000 },
  ),
  'coordinated-leadership-renew-deadline': flag(duration, 'By when that lease must be renewed.', { default: 10_000 }),
  'coordinated-leadership-retry-period': flag(duration, 'Time between attempts to renew it.', { default: 2000 }),
  'enable-aggregator-routing': flag(bool, 'Send requests to the endpoints of aggregated API servers instead of to the cluster IP.'),
  'enable-logs-handler': flag(bool, 'Serve the files in /var/log at /logs.', { deprecated: 'Log handler functionality is deprecated' }),
  'endpoint-reconciler-type': flag(string, 'How the endpoints of the kubernetes service are kept: master-count, lease or none.', { default: 'lease' }),
  'event-ttl': flag(duration, 'How long events are kept.', { default: 3_600_000 }),
  'kubelet-certificate-authority': flag(file, "Certificate authority of kubelets' serving certificates. Without it they are not verified."),
  'kubelet-client-certificate': flag(file, 'Client certificate for kubelets.'),
  'kubelet-client-key': flag(file, 'Key of the client certificate for kubelets.'),
  'kubelet-port': flag(uint, 'Port of kubelets.', {
    default: 10_250,
    deprecated: 'kubelet-port is deprecated and will be removed.',
    isHidden: true,
  }),
  'kubelet-preferred-address-types': flag(strings, 'Types of node addresses to try for kubelets, in order.', {
    default: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
  }),
  'kubelet-read-only-port': flag(uint, 'Read-only port of kubelets.', {
    default: 10_255,
    noEffect: 'nothing is read from that port',
    deprecated: 'kubelet-read-only-port is deprecated and will be removed.',
    isHidden: true,
  }),
  'kubelet-timeout': flag(duration, 'How long a connection to a kubelet may take to stand.', { default: 5000 }),
  'kubernetes-service-node-port': flag(int, 'Node port of the kubernetes service. 0: it has none, and is of type ClusterIP.'),
  'max-connection-bytes-per-sec': flag(
    int,
    'Bytes a second that a connection of exec, attach, port-forward or an upgraded proxy may carry, each way. 0: no limit.',
  ),
  'peer-advertise-ip': flag(string, 'Address at which other API servers on the same store reach this one. Counts together with --peer-advertise-port.'),
  'peer-advertise-port': flag(string, 'Port at which they do.'),
  'peer-ca-file': flag(
    file,
    'Certificate authority of the other API servers on the same store. With it, requests for resources that only they serve are sent on to them.',
  ),
  'proxy-client-cert-file': flag(file, 'Client certificate by which aggregated API servers know this one, and believe the user that it names.'),
  'proxy-client-key-file': flag(file, 'Key of that certificate.'),
  'service-account-signing-endpoint': flag(
    string,
    'Socket of an external signer of service account tokens, or its abstract name with an @ before it. Takes the place of --service-account-key-file and --service-account-signing-key-file.',
  ),
  'service-account-signing-key-file': flag(
    file,
    'Private key that signs service account tokens. Default with the embedded and memory stores: one that is made and kept in --data-dir.',
  ),
  'service-cluster-ip-range': flag(string, 'Ranges of the IPs of services: one CIDR, or one of IPv4 and one of IPv6, comma separated. Default: 10.0.0.0/24.'),
  'service-node-port-range': flag(portRange, 'Ports for services of type NodePort, first and last inclusive.', { default: { first: 30_000, last: 32_767 } }),
});
