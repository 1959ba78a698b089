/** How volumes and claims show the ways they can be mounted: each once, in this order. */
const SHORT_MODES: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];
export const STORAGE_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

export const accessModesText = (modes: readonly string[] = []): string =>
  SHORT_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');

/** The annotation is older than the field, and goes first. */
export const storageClassOf = ({ metadata, spec }: { metadata: { annotations?: Record<string, string> }; spec: { storageClassName?: string } }): string =>
  metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? spec.storageClassName ?? '';

export const phaseOf = ({ metadata, status }: { metadata: { deletionTimestamp?: string }; status: { phase?: string } }): string =>
  metadata.deletionTimestamp ? 'Terminating' : (status.phase ?? '');
