import { quote } from '../util/go-quote.ts';
import { KUBERNETES_VERSION } from './version.ts';

/* Which version of Kubernetes the server behaves as (KEP-4330): kubernetes: component-base/compatibility. */

/** A minor version, such as 1.34. */
export interface Release {
  readonly major: number;
  readonly minor: number;
}

export interface EffectiveVersion {
  /** Whose APIs and features are shown (--emulated-version). */
  readonly emulation: Release;
  /** The oldest version of the control plane that this server still stands beside: it decides what objects are stored as (--min-compatibility-version). */
  readonly minCompatibility: Release;
  /** Both are what they are where neither flag is given. What older versions had need not be looked up. */
  readonly isDefault: boolean;
}

const [, BINARY_MAJOR, BINARY_MINOR] = /^v(\d+)\.(\d+)/.exec(KUBERNETES_VERSION)!;
export const BINARY_RELEASE: Release = { major: Number(BINARY_MAJOR), minor: Number(BINARY_MINOR) };
/** How many minor versions back may be emulated (apiserver/pkg/util/compatibility). */
const OLDER_RELEASES = 3;
const OLDEST_RELEASE: Release = earlier(BINARY_RELEASE, OLDER_RELEASES);
/** The component whose version the flags set when they name none. */
const KUBE = 'kube';

export const DEFAULT_EFFECTIVE_VERSION: EffectiveVersion = { emulation: BINARY_RELEASE, minCompatibility: earlier(BINARY_RELEASE, 1), isDefault: true };

/** Those that `--emulated-version` takes, for `--help`. */
export const emulationHelp = (range: 'emulation' | 'minCompatibility'): string =>
  `Options: ${KUBE}=${printRelease(OLDEST_RELEASE)}..${printRelease(BINARY_RELEASE)} (default ${printRelease(DEFAULT_EFFECTIVE_VERSION[range])})`;

export const printRelease = ({ major, minor }: Release): string => `${major}.${minor}`;

/** Less than zero where `a` is the older. */
export const compareReleases = (a: Release, b: Release): number => a.major - b.major || a.minor - b.minor;

/** `1.34`, as facts have it. */
export function releaseOf(text: string): Release {
  const [major, minor] = text.split('.');
  return { major: Number(major), minor: Number(minor) };
}

function earlier({ major, minor }: Release, count: number): Release {
  return { major, minor: Math.max(0, minor - count) };
}

/** What the two flags say. Errors are in upstream's words; with any, the version is the default one. */
export function resolveEffectiveVersion(
  { emulatedVersion, minCompatibilityVersion }: Record<'emulatedVersion' | 'minCompatibilityVersion', readonly string[]>,
  errors: string[],
): EffectiveVersion {
  if (emulatedVersion.length === 0 && minCompatibilityVersion.length === 0) return DEFAULT_EFFECTIVE_VERSION;
  const before = errors.length;
  const emulation = readRelease(emulatedVersion, errors) ?? BINARY_RELEASE;
  const previous = earlier(emulation, 1);
  const minCompatibility = readRelease(minCompatibilityVersion, errors) ?? (compareReleases(previous, OLDEST_RELEASE) < 0 ? OLDEST_RELEASE : previous);
  if (errors.length > before) return DEFAULT_EFFECTIVE_VERSION;
  const between = (release: Release, newest: Release): boolean => compareReleases(release, OLDEST_RELEASE) >= 0 && compareReleases(release, newest) <= 0;
  const oldest = printRelease(OLDEST_RELEASE);
  if (!between(emulation, BINARY_RELEASE))
    errors.push(`emulation version ${printRelease(emulation)} is not between [${oldest}, ${printRelease(BINARY_RELEASE)}.0]`);
  if (!between(minCompatibility, emulation))
    errors.push(`minCompatibilityVersion version ${printRelease(minCompatibility)} is not between [${oldest}, ${printRelease(emulation)}]`);
  if (errors.length > before) return DEFAULT_EFFECTIVE_VERSION;
  const { emulation: newest, minCompatibility: usual } = DEFAULT_EFFECTIVE_VERSION;
  return { emulation, minCompatibility, isDefault: compareReleases(emulation, newest) === 0 && compareReleases(minCompatibility, usual) === 0 };
}

/** The release that a flag sets for this component; undefined where it sets none. */
function readRelease(values: readonly string[], errors: string[]): Release | undefined {
  const found = new Map<string, string>();
  let release: Release | undefined;
  for (const value of values) {
    const equals = value.indexOf('=');
    const component = equals < 0 ? KUBE : value.slice(0, equals).trim();
    const version = parseVersion(equals < 0 ? value : value.slice(equals + 1).trim());
    if (typeof version === 'string') errors.push(version);
    else if (version.patch !== 0) errors.push(`patch version not allowed, got: ${component}=${version.text}`);
    else if (found.has(component)) errors.push(`duplicate version flag, ${component}=${found.get(component)} and ${component}=${version.text}`);
    else if (component !== KUBE) errors.push(`component not registered: ${component}`);
    else {
      found.set(component, version.text);
      release = { major: version.major, minor: version.minor };
    }
  }
  return release;
}

/** kubernetes: apimachinery/pkg/util/version: two numbers or more, with whatever behind them; or why it is none. */
function parseVersion(text: string): (Release & { patch: number; text: string }) | string {
  const numbers = /^\s*v?(\d+(?:\.\d+)*)/.exec(text)?.[1];
  if (numbers === undefined) return `could not parse ${quote(text)} as version`;
  const parts = numbers.split('.');
  if (parts.length < 2) return `illegal version string ${quote(text)}`;
  if (/^0./.test(parts[0]!)) return `illegal zero-prefixed version component ${quote(parts[0]!)} in ${quote(text)}`;
  const [major, minor, patch = 0] = parts.map(Number) as [number, number, number?];
  return { major, minor, patch, text: parts.map(Number).join('.') };
}
