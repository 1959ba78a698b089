import { quote } from '../../util/go-quote.ts';
import { compareStrings } from '../compare.ts';
import { fn, member, overload, type Library } from '../declarations.ts';
import { BOOL, INT, STRING, structType } from '../types.ts';
import { CelError, CelObject, canonicalInt, noSuchOverload, type CelValue } from '../values.ts';

/** Semantic versions (apiserver/pkg/cel/library/semverlib.go; parsing and messages are those of github.com/blang/semver). */
const SEMVER = structType('kubernetes.Semver');
const MAX_UINT64 = 2n ** 64n - 1n;

interface Version {
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly preRelease: readonly (bigint | string)[];
  readonly text: string;
}

class SemverValue extends CelObject {
  readonly type = SEMVER;
  readonly version: Version;

  constructor(version: Version) {
    super();
    this.version = version;
  }

  override equals(other: CelValue): boolean | CelError {
    return other instanceof SemverValue ? compareVersions(this, other) === 0 : noSuchOverload();
  }

  toString(): string {
    return this.version.text;
  }
}

/** The text does not follow the grammar. */
class VersionError extends Error {}

function parseNumber(text: string, name: string): bigint {
  if (/[^0-9]/.test(text)) throw new VersionError(`Invalid character(s) found in ${name} number ${quote(text)}`);
  if (/^0./.test(text)) throw new VersionError(`${name[0]!.toUpperCase()}${name.slice(1)} number must not contain leading zeroes ${quote(text)}`);
  return parseUint(text);
}

function parseUint(text: string): bigint {
  if (text === '') throw new VersionError('strconv.ParseUint: parsing "": invalid syntax');
  const amount = text.length > 20 ? MAX_UINT64 + 1n : BigInt(text);
  if (amount > MAX_UINT64) throw new VersionError(`strconv.ParseUint: parsing ${quote(text)}: value out of range`);
  return amount;
}

const ALPHANUMERIC = /^[0-9A-Za-z-]*$/;

function parsePreRelease(text: string): bigint | string {
  if (text === '') throw new VersionError('Prerelease is empty');
  if (!/^\d+$/.test(text)) {
    if (!ALPHANUMERIC.test(text)) throw new VersionError(`Invalid character(s) found in prerelease ${quote(text)}`);
    return text;
  }
  if (/^0./.test(text)) throw new VersionError(`Numeric PreRelease version must not contain leading zeroes ${quote(text)}`);
  return parseUint(text);
}

/** At most three parts; the last has all the rest. */
function splitParts(text: string): string[] {
  const [first, second, ...rest] = text.split('.');
  return [first!, ...(second === undefined ? [] : [second]), ...(rest.length === 0 ? [] : [rest.join('.')])];
}

/** Text up to the character, and behind it. */
function cut(text: string, char: string): [string, string | undefined] {
  const index = text.indexOf(char);
  return index === -1 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
}

function parseVersion(text: string): Version {
  if (text === '') throw new VersionError('Version string empty');
  const parts = splitParts(text);
  if (parts.length !== 3) throw new VersionError('No Major.Minor.Patch elements found');
  const major = parseNumber(parts[0]!, 'major');
  const minor = parseNumber(parts[1]!, 'minor');
  const [versionText, build] = cut(parts[2]!, '+');
  const [patchText, preRelease] = cut(versionText, '-');
  const patch = parseNumber(patchText, 'patch');
  const version: Version = { numbers: [major, minor, patch], preRelease: preRelease?.split('.').map(parsePreRelease) ?? [], text };
  for (const part of build?.split('.') ?? []) {
    if (part === '') throw new VersionError('Build meta data is empty');
    if (!ALPHANUMERIC.test(part)) throw new VersionError(`Invalid character(s) found in build meta data ${quote(part)}`);
  }
  return version;
}

/** Without a leading `v` and leading zeros, and with zeros for numbers that are left out. */
function normalize(text: string): string {
  const parts = splitParts(text.replace(/^v/, '')).map((part) =>
    part.length > 1
      ? part
          .replace(/^0+(?=\d)/, '')
          .replace(/^0+(?=\D|$)/, '0')
          .replace(/^(?=\D)/, '0')
      : part,
  );
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!)) throw new VersionError('short version cannot contain PreRelease/Build meta data');
  while (parts.length < 3) parts.push('0');
  return parts.join('.');
}

function parse(text: string, isNormalized = false): SemverValue | CelError {
  try {
    return new SemverValue(parseVersion(isNormalized ? normalize(text) : text));
  } catch (error) {
    if (error instanceof VersionError) return new CelError(error.message);
    throw error;
  }
}

const isVersion = (text: string, isNormalized?: boolean): boolean => !(parse(text, isNormalized) instanceof CelError);

/** -1, 0 or 1: numbers first, then what was released before; builds do not count. */
function compareVersions({ version: a }: SemverValue, { version: b }: SemverValue): number {
  for (const [index, number] of a.numbers.entries()) if (number !== b.numbers[index]) return number > b.numbers[index]! ? 1 : -1;
  if (a.preRelease.length === 0 || b.preRelease.length === 0) return Math.sign(b.preRelease.length - a.preRelease.length);
  for (let index = 0; index < Math.min(a.preRelease.length, b.preRelease.length); index++) {
    const order = comparePreReleases(a.preRelease[index]!, b.preRelease[index]!);
    if (order !== 0) return order;
  }
  return Math.sign(a.preRelease.length - b.preRelease.length);
}

function comparePreReleases(a: bigint | string, b: bigint | string): number {
  if (typeof a === 'string' && typeof b === 'string') return Math.sign(compareStrings(a, b));
  if (typeof a !== typeof b) return typeof a === 'bigint' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

const part = (name: string, index: 0 | 1 | 2): ReturnType<typeof fn> =>
  fn(
    name,
    member(`semver_${name}`, [SEMVER], INT, ({ version }: SemverValue) => canonicalInt(BigInt.asIntN(64, version.numbers[index]))),
  );

export const SEMVER_LIBRARY: Library = {
  functions: [
    fn(
      'semver',
      overload('string_to_semver', [STRING], SEMVER, (text: string) => parse(text)),
      overload('string_bool_to_semver', [STRING, BOOL], SEMVER, parse),
    ),
    fn(
      'isSemver',
      overload('is_semver_string', [STRING], BOOL, (text: string) => isVersion(text)),
      overload('is_semver_string_bool', [STRING, BOOL], BOOL, isVersion),
    ),
    fn(
      'isGreaterThan',
      member('semver_is_greater_than', [SEMVER, SEMVER], BOOL, (a: SemverValue, b: SemverValue) => compareVersions(a, b) > 0),
    ),
    fn(
      'isLessThan',
      member('semver_is_less_than', [SEMVER, SEMVER], BOOL, (a: SemverValue, b: SemverValue) => compareVersions(a, b) < 0),
    ),
    fn('compareTo', member('semver_compare_to', [SEMVER, SEMVER], INT, compareVersions)),
    part('major', 0),
    part('minor', 1),
    part('patch', 2),
  ],
};
