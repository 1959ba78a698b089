import type { Write } from '../../registry/write.ts';
import { quote } from '../../util/go-quote.ts';

/** Names of what is configured by files beside the server (KEP-5793). */
const RESERVED_SUFFIX = '.static.k8s.io';

export function reservedNameWarnings({ object: { metadata } }: Write): string[] {
  if (!metadata.name?.endsWith(RESERVED_SUFFIX)) return [];
  return [`metadata.name: names ending with ${quote(RESERVED_SUFFIX)} are reserved for static manifest-based configurations and cannot be managed via the API`];
}
