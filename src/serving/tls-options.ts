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

export const preferredCipherNames = (): string[] => [...Object.keys(PREFERRED_SUITES), ...Object.keys(LEGACY_NAMES), ...TLS13_SUITES].sort();
export const insecureCipherNames = (): string[] => Object.keys(INSECURE_SUITES).sort();
export const tlsVersionNames = (): string[] => Object.keys(VERSIONS);

export interface TlsFlags {
  /** `--tls-min-version`; empty: 1.2. */
  minVersion?: string;
  /** `--tls-cipher-suites`; empty: the preferred ones. */
  cipherSuites?: readonly string[];
  /** `--tls-curve-preferences`; empty: OpenSSL's choice. */
  curvePreferences?: readonly number[];
}

/** What Node's TLS contexts are made with. `warnings` tell of choices that are unwise or that this OpenSSL cannot follow. */
export interface TlsSettings {
  settings: SecureContextOptions;
  warnings: string[];
}

/** Throws, with upstream's words, for a name or number that does not exist, and when nothing of a list is left to serve with. */
export function resolveTlsFlags({ minVersion = '', cipherSuites = [], curvePreferences = [] }: TlsFlags): TlsSettings {
  const warnings: string[] = [];
  const settings: SecureContextOptions = { minVersion: resolveVersion(minVersion), ciphers: resolveCiphers(cipherSuites, warnings) };
  if (curvePreferences.length > 0) settings.ecdhCurve = resolveCurves(curvePreferences, warnings);
  return { settings, warnings };
}

function resolveVersion(name: string): SecureVersion {
  if (name === '') return 'TLSv1.2';
  if (!Object.hasOwn(VERSIONS, name)) throw new Error(`unknown tls version ${JSON.stringify(name)}`);
  return VERSIONS[name]!;
}

function resolveCiphers(names: readonly string[], warnings: string[]): string {
  if (names.length === 0) return [...TLS13_SUITES, ...Object.values(PREFERRED_SUITES)].join(':');
  const known = new Map(Object.entries({ ...PREFERRED_SUITES, ...LEGACY_NAMES, ...INSECURE_SUITES }));
  const chosen: string[] = [];
  for (const name of names) {
    if (TLS13_SUITES.includes(name)) continue;
    const suite = known.get(name);
    if (suite === undefined) throw new Error(`Cipher suite ${name} not supported or doesn't exist. Supported: ${[...preferredCipherNames(), ...insecureCipherNames()].join(', ')}`);
    if (name in INSECURE_SUITES) warnings.push(`Use of insecure cipher '${name}' detected.`);
    if (isUsable({ ciphers: suite })) chosen.push(suite);
    else warnings.push(`Cipher suite ${name} is not part of this Node's OpenSSL and is left out.`);
  }
  return [...TLS13_SUITES, ...chosen].join(':');
}

function resolveCurves(ids: readonly number[], warnings: string[]): string {
  const seen = new Set<number>();
  const chosen: string[] = [];
  for (const id of ids) {
    if (id <= 0 || id > 65_535) throw new Error(`curve preference ${id} is out of range (must be 1-65535)`);
    if (seen.has(id)) throw new Error(`duplicate curve preference ${id}`);
    seen.add(id);
    const group = CURVES[id];
    if (group === undefined) throw new Error(`curve preference ${id} is not supported`);
    if (isUsable({ ecdhCurve: group })) chosen.push(group);
    else warnings.push(`Curve preference ${id} (${group}) is not part of this Node's OpenSSL and is left out.`);
  }
  if (chosen.length === 0) throw new Error(`none of the curve preferences ${ids.join(', ')} is supported by this Node's OpenSSL`);
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
