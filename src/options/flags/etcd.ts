import { flag, flagSet } from './flag.ts';
import { bool, duration, file, int, string, strings } from './types.ts';

const CACHE_IS_ALWAYS_ON = 'every resource is cached, at the size it needs';

export const etcd = flagSet('etcd', {
  'default-watch-cache-size': flag(int, 'Events kept for watches of a resource.', {
    default: 100,
    noEffect: CACHE_IS_ALWAYS_ON,
    deprecated: 'watch caches are sized automatically and this flag will be removed in a future version',
    isHidden: true,
  }),
  'delete-collection-workers': flag(int, 'Deletions that one deletecollection request does at the same time.', { default: 1 }),
  'enable-garbage-collector': flag(bool, 'Set the finalizers that foreground and orphaning deletion need. Must agree with the kube-controller-manager.', {
    default: true,
  }),
  'encryption-provider-config': flag(file, 'File that says which resources are stored encrypted, and with which keys.'),
  'encryption-provider-config-automatic-reload': flag(bool, 'Read --encryption-provider-config again when it changes.'),
  'etcd-cafile': flag(file, 'Certificate authority of the etcd servers.'),
  'etcd-certfile': flag(file, 'Client certificate for etcd.'),
  'etcd-compaction-interval': flag(duration, 'Time between compactions of the store: old versions and continue tokens last for one to two of it. 0: none.', {
    default: 300_000,
  }),
  'etcd-count-metric-poll-period': flag(duration, 'Above 0, the objects of each resource are counted for metrics, whenever these are read. 0: they are not.', {
    default: 60_000,
  }),
  'etcd-db-metric-poll-interval': flag(duration, 'Time between readings of the size of the database. 0: none.', { default: 30_000 }),
  'etcd-healthcheck-timeout': flag(duration, 'How long a health check of etcd may take.', { default: 2000 }),
  'etcd-keyfile': flag(file, 'Key of the client certificate for etcd.'),
  'etcd-prefix': flag(string, 'Prefix of all keys.', { default: '/registry' }),
  'etcd-readycheck-timeout': flag(duration, 'How long a readiness check of etcd may take.', { default: 2000 }),
  'etcd-servers': flag(strings, 'URLs of the etcd servers, comma separated.'),
  'etcd-servers-overrides': flag(strings, 'Other etcd servers for some resources, comma separated: group/resource#url;url.'),
  'lease-reuse-duration-seconds': flag(int, 'Seconds for which a lease of etcd is shared by new objects that expire.', { default: 60 }),
  'storage-backend': flag(
    string,
    "Where objects are kept: 'embedded' (in --data-dir, the default), 'memory', or 'etcd3' (the default where --etcd-servers is given).",
  ),
  'storage-media-type': flag(string, 'Encoding of the objects in etcd. The other stores have their own.', { default: 'application/vnd.kubernetes.protobuf' }),
  'watch-cache': flag(bool, 'Keep resources in a cache from which lists and watches are served.', { default: true, noEffect: CACHE_IS_ALWAYS_ON }),
  'watch-cache-sizes': flag(strings, 'Cache sizes of some resources, comma separated: resource[.group]#size.', { noEffect: CACHE_IS_ALWAYS_ON }),
});
