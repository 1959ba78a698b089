import { createSecureContext, type SecureContextOptions, type SecureVersion } from 'node:tls';

/* The values of upstream's --tls-* flags (component-base/cli/flag), which are Go's, as OpenSSL knows them. */

const VERSIONS: Record<string, SecureVersion> = { VersionTLS10: 'TLSv1', VersionTLS11: 'TLSv1.1', VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' };

/** TLS 1.3 suites are all on, in Go's order; a list of suites does not choose among them. */
const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** Suites that are on by default, best first: Go's name to OpenSSL's. */
const PREFERRED_SUITES: Record<string, string> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
};

/** Names that upstream still takes for suites above. */
const LEGACY_NAMES: Record<string, string> = {
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
};

const INSECURE_SUITES: Record<string, string> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: 'ECDHE-ECDSA-RC4-SHA',
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: 'ECDHE-RSA-DES-CBC3-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: 'ECDHE-RSA-RC4-SHA',
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: 'DES-CBC3-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_RC4_128_SHA: 'RC4-SHA',
};

/** Go's CurveID to OpenSSL's group. The last is in OpenSSL 3.5 and newer. */
const CURVES: Record<number, string> = { 23: 'P-256', 24: 'P-384', 25: 'P-521', 29: 'X25519', 4588: 'X25519MLKEM768' };

export const preferredCipherNames = (): string[] => [...Object.keys(PREFERRED_SUITES), ...Object.keys(LEGACY_NAMES), ...TLS13_SUITES].toSorted();
export const insecureCipherNames = (): string[] => Object.keys(INSECURE_SUITES).toSorted();

export interface TlsFlags {
  /** `--tls-min-version`; empty: 1.2. */
  minVersion?: string;
  /** `--tls-cipher-suites`; empty: the preferred ones. */
  cipherSuites?: readonly string[];
  /** `--tls-curve-preferences`; empty: OpenSSL's choice. */
  curvePreferences?: readonly number[];
}

/** What Node's TLS contexts are made with, good for use when there are no errors. */
export interface ResolvedTlsFlags {
  settings: SecureContextOptions;
  /** Choices that are unwise, or that this OpenSSL cannot follow. */
  warnings: string[];
  /** Names and numbers that do not exist, in upstream's words, and lists of which nothing is left to serve with. */
  errors: string[];
}

export function resolveTlsFlags({ minVersion = '', cipherSuites = [], curvePreferences = [] }: TlsFlags): ResolvedTlsFlags {
  const found: Findings = { warnings: [], errors: [] };
  const settings: SecureContextOptions = { minVersion: resolveVersion(minVersion, found), ciphers: resolveCiphers(cipherSuites, found) };
  if (curvePreferences.length > 0) settings.ecdhCurve = resolveCurves(curvePreferences, found);
  return { settings, ...found };
}

type Findings = Pick<ResolvedTlsFlags, 'warnings' | 'errors'>;

const DEFAULT_VERSION = 'TLSv1.2';

function resolveVersion(name: string, { errors }: Findings): SecureVersion {
  if (name === '') return DEFAULT_VERSION;
  if (Object.hasOwn(VERSIONS, name)) return VERSIONS[name]!;
  errors.push(`unknown tls version ${JSON.stringify(name)}`);
  return DEFAULT_VERSION;
}

function resolveCiphers(names: readonly string[], { warnings, errors }: Findings): string {
  if (names.length === 0) return [...TLS13_SUITES, ...Object.values(PREFERRED_SUITES)].join(':');
  const known = new Map(Object.entries({ ...PREFERRED_SUITES, ...LEGACY_NAMES, ...INSECURE_SUITES }));
  const chosen: string[] = [];
  for (const name of names) {
    if (TLS13_SUITES.includes(name)) continue;
    const suite = known.get(name);
    if (suite === undefined) {
      errors.push(`Cipher suite ${name} not supported or doesn't exist. Supported: ${[...preferredCipherNames(), ...insecureCipherNames()].join(', ')}`);
      continue;
    }
    if (Object.hasOwn(INSECURE_SUITES, name)) warnings.push(`Use of insecure cipher '${name}' detected.`);
    if (isUsable({ ciphers: suite })) chosen.push(suite);
    else warnings.push(`Cipher suite ${name} is not part of this Node's OpenSSL and is left out.`);
  }
  return [...TLS13_SUITES, ...chosen].join(':');
}

function resolveCurves(ids: readonly number[], { warnings, errors }: Findings): string {
  const chosen: string[] = [];
  ids.forEach((id, index) => {
    const group = CURVES[id];
    if (id <= 0 || id > 65_535) errors.push(`curve preference ${id} is out of range (must be 1-65535)`);
    else if (ids.indexOf(id) < index) errors.push(`duplicate curve preference ${id}`);
    else if (group === undefined) errors.push(`curve preference ${id} is not supported`);
    else if (isUsable({ ecdhCurve: group })) chosen.push(group);
    else warnings.push(`Curve preference ${id} (${group}) is not part of this Node's OpenSSL and is left out.`);
  });
  if (chosen.length === 0 && errors.length === 0) errors.push(`none of the curve preferences ${ids.join(', ')} is supported by this Node's OpenSSL`);
  return chosen.join(':');
}

/** Asks OpenSSL. `ca: []` keeps it from loading the system's roots for the question. */
function isUsable(options: SecureContextOptions): boolean {
  try {
    createSecureContext({ ca: [], ...options });
    return true;
  } catch {
    return false;
  }
}
