import { describe, expect, test } from 'vitest';
import { parseFlags } from './flags/parser.ts';
import { type EffectiveVersion, printRelease, resolveEffectiveVersion } from './effective-version.ts';

function resolve(...flags: string[]): { version: EffectiveVersion; errors: string[] } {
  const errors: string[] = [];
  const version = resolveEffectiveVersion(parseFlags(flags).options, errors);
  return { version, errors };
}

test.each<[string[], string, string, boolean]>([
  [[], '1.36', '1.35', true],
  [['--emulated-version=1.36'], '1.36', '1.35', true],
  [['--emulated-version=1.35'], '1.35', '1.34', false],
  [['--emulated-version=kube=1.34'], '1.34', '1.33', false],
  [['--emulated-version=v1.34.0'], '1.34', '1.33', false],
  [['--emulated-version=1.35-alpha.1'], '1.35', '1.34', false],
  [['--emulated-version= 1.033'], '1.33', '1.33', false],
  [['--min-compatibility-version=1.36'], '1.36', '1.36', false],
  [['--emulated-version=1.35', '--min-compatibility-version=kube=1.33'], '1.35', '1.33', false],
])('%j', (flags, emulation, minCompatibility, isDefault) => {
  const { version, errors } = resolve(...flags);
  expect(errors).toEqual([]);
  expect([printRelease(version.emulation), printRelease(version.minCompatibility), version.isDefault]).toEqual([emulation, minCompatibility, isDefault]);
});

/* As the reference refuses them. */
describe('what is refused', () => {
  test.each<[string[], string[]]>([
    [['--emulated-version=1.32'], ['emulation version 1.32 is not between [1.33, 1.36.0]', 'minCompatibilityVersion version 1.33 is not between [1.33, 1.32]']],
    [['--emulated-version=1.37'], ['emulation version 1.37 is not between [1.33, 1.36.0]']],
    [['--emulated-version=2.0'], ['emulation version 2.0 is not between [1.33, 1.36.0]']],
    [['--emulated-version=kube=1.34.1'], ['patch version not allowed, got: kube=1.34.1']],
    [['--emulated-version=foo=1.34'], ['component not registered: foo']],
    [['--emulated-version=abc'], ['could not parse "abc" as version']],
    [['--emulated-version=1'], ['illegal version string "1"']],
    [['--emulated-version=1.34,1.35'], ['duplicate version flag, kube=1.34 and kube=1.35']],
    [['--emulated-version=1.34', '--min-compatibility-version=1.35'], ['minCompatibilityVersion version 1.35 is not between [1.33, 1.34]']],
    [['--min-compatibility-version=1.32'], ['minCompatibilityVersion version 1.32 is not between [1.33, 1.36]']],
    [['--min-compatibility-version=bar=1.35'], ['component not registered: bar']],
  ])('%j', (flags, errors) => {
    expect(resolve(...flags).errors).toEqual(errors);
  });
});
