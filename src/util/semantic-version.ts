/** A version after semver.org 2.0.0; what follows a `+` plays no part in the order. */
export interface SemanticVersion {
  core: readonly bigint[];
  /** Empty where it is a release. */
  prerelease: readonly string[];
}

const VERSION = /^(?<core>[0-9]+\.[0-9]+\.[0-9]+)(?:-(?<prerelease>[0-9A-Za-z.-]+))?(?:\+(?<build>[0-9A-Za-z.-]+))?$/;

const MAX_NUMBER = 2n ** 64n - 1n;
const MAX_DIGITS = String(MAX_NUMBER).length;
const isDigits = (part: string): boolean => /^(?:0|[1-9][0-9]*)$/.test(part);
/** One of 64 bits, as upstream's parser has them (blang/semver); more digits would also take more than linear time. */
const isNumber = (part: string): boolean => isDigits(part) && part.length <= MAX_DIGITS && BigInt(part) <= MAX_NUMBER;
const isWord = (part: string): boolean => /[a-zA-Z-]/.test(part);

interface Parts {
  core: readonly string[];
  prerelease: readonly string[];
}

/** Undefined where the text is none. Numbers have no leading zeros. */
function partsOf(text: string): Parts | undefined {
  const { core = '', prerelease, build } = VERSION.exec(text)?.groups ?? {};
  const numbers = core.split('.');
  const identifiers = prerelease?.split('.') ?? [];
  const isGood =
    numbers.every(isDigits) && identifiers.every((part) => isDigits(part) || isWord(part)) && (build?.split('.') ?? []).every((part) => part !== '');
  return isGood ? { core: numbers, prerelease: identifiers } : undefined;
}

/** Whether the text has the form of one. */
export const isSemanticVersion = (text: string): boolean => partsOf(text) !== undefined;

/** Undefined where the text is none, or has numbers of more than 64 bits. */
export function parseSemanticVersion(text: string): SemanticVersion | undefined {
  const parts = partsOf(text);
  const isGood = parts !== undefined && parts.core.every(isNumber) && parts.prerelease.every((part) => isNumber(part) || isWord(part));
  return isGood ? { core: parts.core.map(BigInt), prerelease: parts.prerelease } : undefined;
}

/** Less than 0, 0, or more, as `a` comes before, with or after `b`. */
export function compareSemanticVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (const [index, number] of a.core.entries()) if (number !== b.core[index]) return number < b.core[index]! ? -1 : 1;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return Math.sign(b.prerelease.length - a.prerelease.length);
  for (const [index, part] of a.prerelease.entries()) {
    const other = b.prerelease[index];
    if (other === undefined) return 1;
    if (part !== other) return compareIdentifiers(part, other);
  }
  return Math.sign(a.prerelease.length - b.prerelease.length);
}

/** Numbers come before words. */
function compareIdentifiers(a: string, b: string): number {
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  return (isNumber(a) ? BigInt(a) < BigInt(b) : a < b) ? -1 : 1;
}
