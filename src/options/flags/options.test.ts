import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CURRENT_FACTS } from '../../../scripts/facts/current.ts';
import type { AnyFlag, FlagSet } from './flag.ts';
import { defaultOptions, flagSets } from './options.ts';

interface UpstreamFlag {
  name: string;
  type: string;
  default?: string;
  short?: string;
  deprecated?: boolean;
}

const upstream = JSON.parse(readFileSync(`${CURRENT_FACTS}/flags.json`, 'utf8')) as Record<string, UpstreamFlag[]>;

const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const ours = new Map<string, FlagSet>(flagSets.map((set) => [title(set.title), set]));

/** As kube-apiserver's --help shows it; it prints empty lists of some types, which say nothing. */
function shownDefault(flag: AnyFlag): string {
  const text = flag.type.format(flag.default);
  return text === flag.type.format(flag.type.zero) ? '' : text.replace(/^"|"$/g, '');
}

describe.each(Object.entries(upstream))('the set %s', (name, flags) => {
  const set = ours.get(name)!;

  test('has the flags of kube-apiserver', () => {
    const visible = Object.entries(set.flags).filter(([, flag]) => !flag.isHidden);
    expect(visible.map(([flagName]) => flagName)).toEqual(flags.map((flag) => flag.name));
  });

  test.each(flags.map((flag) => [flag.name, flag] as const))('--%s has its type, default and short form', (flagName, expected) => {
    const flag = set.flags[flagName]!;
    expect({ type: flag.type.label || 'bool', default: shownDefault(flag), short: flag.short, deprecated: flag.deprecated !== undefined }).toEqual({
      type: expected.type,
      default: (expected.default ?? '').replace(/^\[\]$/, ''),
      short: expected.short,
      deprecated: expected.deprecated ?? false,
    });
  });
});

test('our own flags stand in a set of their own', () => {
  expect(flagSets.filter((set) => !Object.hasOwn(upstream, title(set.title))).map((set) => set.title)).toEqual(['Binnacle']);
});

test('options carry the values of the flags, with the unit in the name', () => {
  const options = defaultOptions();
  expect(options.requestTimeoutMs).toBe(60_000);
  expect(options.minRequestTimeoutSeconds).toBe(1800);
  expect(options.serviceNodePortRange).toEqual({ first: 30_000, last: 32_767 });
  expect(options.tlsSniCertKey).toEqual([]);
});
