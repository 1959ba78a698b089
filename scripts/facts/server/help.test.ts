import { expect, test } from 'vitest';
import { emulatedVersions, flagsOf, gatesOf } from './help.ts';

const HELP = `Words about the program.

Usage:
  kube-apiserver [flags]

Generic flags:

      --emulated-version strings   Words. Options are: kube=1.33..1.36(default:1.36)
                                   More words.
      --feature-gates mapStringBool   Words:
                                   kube:Anchor=true|false (BETA - default=true)
                                   kube:Sail=true|false (ALPHA - default=false), or Sail=true|false (ALPHA - default=true) if --min-compatibility-version>=1.36
      --goaway-chance float        Words of a chance.

Secure serving flags:

      --bind-address ip            Words (in brackets) of it. (default 0.0.0.0)
      --cert-dir string            Words. (default "/var/run/kubernetes")
      --old                        Words. (default true) (DEPRECATED: words.)
      --older string               DEPRECATED: words.

Global flags:

  -h, --help                       Words
`;

test('flags by their set, with type and default', () => {
  expect(flagsOf(HELP)).toEqual({
    Generic: [
      { name: 'emulated-version', type: 'strings' },
      { name: 'feature-gates', type: 'mapStringBool' },
      { name: 'goaway-chance', type: 'float' },
    ],
    'Secure serving': [
      { name: 'bind-address', type: 'ip', default: '0.0.0.0' },
      { name: 'cert-dir', type: 'string', default: '/var/run/kubernetes' },
      { name: 'old', type: 'bool', default: 'true', deprecated: true },
      { name: 'older', type: 'string', deprecated: true },
    ],
    Global: [{ name: 'help', type: 'bool', short: 'h' }],
  });
});

test('gates that may be moved, and versions that may be emulated', () => {
  expect(gatesOf(HELP)).toEqual({ Anchor: { stage: 'BETA', default: true }, Sail: { stage: 'ALPHA', default: false } });
  expect(emulatedVersions(HELP)).toEqual(['1.33', '1.34', '1.35']);
  expect(emulatedVersions('')).toEqual([]);
});
