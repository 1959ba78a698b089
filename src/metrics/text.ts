import type { ExpositionFormat } from './page.ts';

export interface Sample {
  suffix: '' | '_bucket' | '_sum' | '_count';
  le?: number;
  value: number;
}

/** Prometheus' text format 0.0.4. */
export const textFormat: ExpositionFormat = {
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  head: ({ name, help, type }) => Buffer.from(`# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`),
  series({ name, buckets }, series) {
    const bounds = [...buckets, Infinity].map((bound) => `le="${formatNumber(bound)}"} `);
    let text = '';
    for (const { pairs, series: one } of series) text += seriesText(name, pairs, one.samples(), bounds);
    return Buffer.from(text);
  },
};

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
