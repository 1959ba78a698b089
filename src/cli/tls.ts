/** OpenSSL's names of the cipher suites that Go knows (crypto/tls), the ones it calls insecure too. */
const openSslCiphers: Readonly<Record<string, string>> = {
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: 'ECDHE-ECDSA-RC4-SHA',
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: 'ECDHE-RSA-DES-CBC3-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: 'ECDHE-RSA-RC4-SHA',
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: 'DES-CBC3-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_RC4_128_SHA: 'RC4-SHA',
};

/** OpenSSL's names of the key exchanges, by the number that TLS gives them. */
const openSslGroups: ReadonlyMap<number, string> = new Map([
  [23, 'P-256'],
  [24, 'P-384'],
  [25, 'P-521'],
  [29, 'X25519'],
  [4588, 'X25519MLKEM768'],
]);

const nodeVersions = { VersionTLS10: 'TLSv1', VersionTLS11: 'TLSv1.1', VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const;

/** What the flags say about TLS, in the words of Node's `tls` module. Undefined: its defaults. */
export interface TlsSettings {
  readonly minVersion: (typeof nodeVersions)[keyof typeof nodeVersions];
  readonly ciphers: string | undefined;
  readonly ecdhCurve: string | undefined;
}

interface TlsFlags {
  readonly tlsMinVersion: string;
  readonly tlsCipherSuites: readonly string[];
  readonly tlsCurvePreferences: readonly number[];
}

export function tlsSettings(flags: TlsFlags, errors: string[]): TlsSettings {
  const version = flags.tlsMinVersion === '' ? 'VersionTLS12' : flags.tlsMinVersion;
  const isKnown = Object.hasOwn(nodeVersions, version);
  if (!isKnown) errors.push(`unknown tls version ${JSON.stringify(version)}`);
  return {
    minVersion: nodeVersions[isKnown ? (version as keyof typeof nodeVersions) : 'VersionTLS12'],
    ciphers: joined(flags.tlsCipherSuites.map((name) => cipher(name, errors))),
    ecdhCurve: joined(flags.tlsCurvePreferences.map((id, index) => group(id, flags.tlsCurvePreferences.indexOf(id) < index, errors))),
  };
}

const joined = (names: readonly string[]): string | undefined => (names.length === 0 ? undefined : names.join(':'));

function cipher(name: string, errors: string[]): string {
  if (Object.hasOwn(openSslCiphers, name)) return openSslCiphers[name]!;
  errors.push(`Cipher suite ${name} not supported or doesn't exist`);
  return '';
}

function group(id: number, isRepeated: boolean, errors: string[]): string {
  const name = openSslGroups.get(id);
  if (id <= 0 || id > 65_535) errors.push(`curve preference ${id} is out of range (must be 1-65535)`);
  else if (isRepeated) errors.push(`duplicate curve preference ${id}`);
  else if (name === undefined) errors.push(`curve preference ${id} is not supported`);
  return name ?? '';
}
