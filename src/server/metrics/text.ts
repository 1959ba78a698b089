/** The media type of what is printed here, as upstream names it. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';

export interface Sample {
  suffix: '' | '_bucket' | '_sum' | '_count';
  le?: number;
  value: number;
}

export interface FamilyText {
  name: string;
  help: string;
  type: string;
  labels: readonly string[];
  series: { values: readonly string[]; samples: Sample[] }[];
}

/** One metric in Prometheus' text format: labels by name, series by their labels, so that two scrapes compare line by line. */
export function familyText({ name, help, type, labels, series }: FamilyText): string {
  if (series.length === 0) return '';
  const order = labels.map((_, i) => i).toSorted((a, b) => (labels[a]! < labels[b]! ? -1 : 1));
  const printed = series.map(({ values, samples }) => ({ pairs: order.map((i) => `${labels[i]!}="${escapeValue(values[i]!)}"`).join(','), samples }));
  printed.sort((a, b) => (a.pairs < b.pairs ? -1 : 1));
  let text = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  for (const { pairs, samples } of printed) for (const sample of samples) text += sampleLine(name, pairs, sample);
  return text;
}

function sampleLine(name: string, pairs: string, { suffix, le, value }: Sample): string {
  const bound = le === undefined ? '' : `${pairs === '' ? '' : ','}le="${formatNumber(le)}"`;
  const all = pairs + bound;
  return `${name}${suffix}${all === '' ? '' : `{${all}}`} ${formatNumber(value)}\n`;
}

const escapeValue = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
const escapeHelp = (help: string): string => help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

/** Go's shortest %g: with an exponent, of two digits at least, below 1e-4 and from 1e+06 on. Bucket bounds are labels, so their form counts. */
export function formatNumber(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  if (Number.isNaN(value)) return 'NaN';
  if (value === 0) return '0';
  const [digits, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(value);
  const size = Math.abs(exponent);
  return `${digits}e${exponent < 0 ? '-' : '+'}${size < 10 ? '0' : ''}${size}`;
}
