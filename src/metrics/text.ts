import type { MetricType } from './declaration.ts';
import type { Family, Series } from './family.ts';

/** The media type of what is printed here, as upstream names it. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';

export interface Sample {
  suffix: '' | '_bucket' | '_sum' | '_count';
  le?: number;
  value: number;
}

export interface FamilyHead {
  name: string;
  help: string;
  type: MetricType;
  buckets: readonly number[];
}

/** One metric in Prometheus' text format 0.0.4, a series at a time; nothing where it has none. */
export function* familyPieces({ name, help, type, buckets, family }: FamilyHead & { family: Family<Series> }): Generator<string> {
  let isEmpty = true;
  const bounds = [...buckets, Infinity].map((bound) => `le="${formatNumber(bound)}"} `);
  for (const { pairs, series } of family.shown()) {
    const text = seriesText(name, pairs, series.samples(), bounds);
    yield isEmpty ? `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${text}` : text;
    isEmpty = false;
  }
}

function seriesText(name: string, pairs: string, samples: readonly Sample[], bounds: readonly string[]): string {
  const bucketStart = `${name}_bucket{${pairs}${pairs === '' ? '' : ','}`;
  const labels = pairs === '' ? ' ' : `{${pairs}} `;
  let text = '';
  let bucket = 0;
  for (const { suffix, value } of samples)
    text += suffix === '_bucket' ? `${bucketStart}${bounds[bucket++]}${formatNumber(value)}\n` : `${name}${suffix}${labels}${formatNumber(value)}\n`;
  return text;
}

/** `a="1",b="2"`, by name of the label. */
export function labelText(labels: readonly string[], values: readonly string[]): string {
  const order = labels.map((_, i) => i).sort((a, b) => (labels[a]! < labels[b]! ? -1 : 1));
  return order.map((i) => `${labels[i]!}="${escapeValue(values[i]!)}"`).join(',');
}

const escapeValue = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
const escapeHelp = (help: string): string => help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

/** Go's shortest %g: with an exponent, of two digits at least, below 1e-4 and from 1e+06 on. Bucket bounds are labels, so their form counts. */
export function formatNumber(value: number): string {
  if (value === 0) return '0';
  if (value >= 1e-4 && value < 1e6) return String(value);
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  if (Number.isNaN(value)) return 'NaN';
  const [digits, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(value);
  const size = Math.abs(exponent);
  return `${digits}e${exponent < 0 ? '-' : '+'}${size < 10 ? '0' : ''}${size}`;
}
