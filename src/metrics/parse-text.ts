import type { TimeSlice } from '../util/time-slice.ts';
import type { MetricType } from './declaration.ts';
import type { LabelledSamples } from './protobuf.ts';
import type { Sample } from './text.ts';

/** One metric of a page in the text format. */
export interface ParsedFamily {
  name: string;
  help: string;
  type: MetricType;
  series: LabelledSamples[];
}

/** Reads a page that text.ts has written, in slices of the thread's time: each series stands in one piece, its count last. */
export async function parsePage(page: string, slice: TimeSlice): Promise<ParsedFamily[]> {
  const families: ParsedFamily[] = [];
  let samples: Sample[] = [];
  for (const line of page.split('\n')) {
    if (slice.isSpent) await slice.next();
    const family = families.at(-1);
    if (line.startsWith('# HELP ')) families.push(familyOf(line));
    else if (line.startsWith('# TYPE ')) family!.type = line.slice(line.lastIndexOf(' ') + 1) as MetricType;
    else if (line !== '') {
      const { labels, sample } = sampleOf(line, family!.name);
      samples.push(sample);
      if (sample.suffix !== '' && sample.suffix !== '_count') continue;
      family!.series.push({ labels, samples });
      samples = [];
    }
  }
  return families;
}

function familyOf(line: string): ParsedFamily {
  const rest = line.slice('# HELP '.length);
  const space = rest.indexOf(' ');
  return { name: rest.slice(0, space), help: unescaped(rest.slice(space + 1)), type: 'gauge', series: [] };
}

const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

function sampleOf(line: string, family: string): { labels: LabelledSamples['labels']; sample: Sample } {
  const valueAt = line.lastIndexOf(' ') + 1;
  const bracket = line.indexOf('{');
  const suffix = line.slice(family.length, bracket === -1 ? valueAt - 1 : bracket) as Sample['suffix'];
  const pairs = bracket === -1 ? [] : [...line.slice(bracket, valueAt).matchAll(LABEL)].map(([, name, value]) => [name!, unescaped(value!)] as const);
  const value = parseNumber(line.slice(valueAt));
  if (suffix !== '_bucket') return { labels: pairs, sample: { suffix, value } };
  const bound = pairs.find(([name]) => name === 'le')!;
  return { labels: pairs.filter((pair) => pair !== bound), sample: { suffix, value, le: parseNumber(bound[1]) } };
}

const parseNumber = (text: string): number => (text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text));

const unescaped = (text: string): string =>
  text.includes('\\') ? text.replace(/\\(.)/g, (_all, character: string) => (character === 'n' ? '\n' : character)) : text;
