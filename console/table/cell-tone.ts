/** Words of a cell that tell good from bad: shown by a dot in front of them, and never by the colour alone. */
export type Tone = 'good' | 'bad' | 'waiting' | undefined;

const GOOD: ReadonlySet<string> = new Set(['Running', 'Active', 'Ready', 'Bound', 'Succeeded', 'Completed', 'Complete', 'Available', 'Established', 'True']);
const BAD: ReadonlySet<string> = new Set([
  'Failed',
  'Error',
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'NotReady',
  'Lost',
  'Evicted',
  'OOMKilled',
  'Warning',
  'Unknown',
]);
const WAITING: ReadonlySet<string> = new Set(['Pending', 'Terminating', 'ContainerCreating', 'Progressing', 'Released', 'SchedulingDisabled']);
const TELLING_COLUMNS: ReadonlySet<string> = new Set(['Status', 'Phase', 'Ready', 'Type', 'Available', 'Established', 'State']);

export function toneOf(column: string, text: string): Tone {
  if (!TELLING_COLUMNS.has(column)) return undefined;
  const word = text.split(/[,\s]/, 1)[0]!;
  if (GOOD.has(word)) return 'good';
  if (BAD.has(word)) return 'bad';
  return WAITING.has(word) ? 'waiting' : undefined;
}
