import type { Write } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';

/** Names of what is configured by files beside the server (KEP-5793). */
export const STATIC_SUFFIX = '.static.k8s.io';
const RESERVED = `names ending with ${quote(STATIC_SUFFIX)} are reserved for static manifest-based configurations and cannot be managed via the API`;
const GATE = 'ManifestBasedAdmissionControlConfig';

const isReserved = ({ object: { metadata } }: Write): boolean => metadata.name?.endsWith(STATIC_SUFFIX) ?? false;

/** A new object is refused where such files are read. */
export function refuseReservedName(write: Write, errors: FieldErrors): void {
  if (write.old === undefined && write.settings.features.has(GATE) && isReserved(write))
    errors.at('metadata', 'name').invalid(write.object.metadata.name!, RESERVED);
}

/** Where it is refused, nothing is said beside. */
export function reservedNameWarnings(write: Write): string[] {
  const isRefused = write.old === undefined && write.settings.features.has(GATE);
  return isReserved(write) && !isRefused ? [`metadata.name: ${RESERVED}`] : [];
}
