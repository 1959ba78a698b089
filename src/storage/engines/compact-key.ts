/**
 * The key, outside of all prefixes, that compactions are counted with: its value is the revision that the store is compacted to, its version the number of
 * compactions. Upstream's, so that every server of a cluster, kube-apiservers too, shares the work through it (apiserver/pkg/storage/etcd3/compact.go).
 */
export const COMPACT_KEY = 'compact_rev_key';
