import { createSecureContext } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { insecureCipherNames, preferredCipherNames, resolveTlsFlags } from './tls-options.ts';

describe('--tls-* flags', () => {
  test('defaults: TLS 1.2 and no suite that Go would not take', () => {
    const { settings, warnings } = resolveTlsFlags({});
    expect(settings.minVersion).toBe('TLSv1.2');
    expect(settings.ciphers).toMatch(/^TLS_AES_128_GCM_SHA256:/);
    expect(settings.ciphers).not.toMatch(/(^|:)(AES|DHE|RSA)/);
    expect(warnings).toEqual([]);
  });

  test('versions and their error', () => {
    expect(resolveTlsFlags({ minVersion: 'VersionTLS13' }).settings.minVersion).toBe('TLSv1.3');
    expect(resolveTlsFlags({ minVersion: 'TLS13' }).errors).toEqual(['unknown tls version "TLS13"']);
    expect(resolveTlsFlags({ minVersion: 'constructor' }).errors).toEqual(['unknown tls version "constructor"']);
  });

  test('every suite that upstream knows is known, and OpenSSL takes what comes of it', () => {
    for (const name of [...preferredCipherNames(), ...insecureCipherNames()])
      expect(() => createSecureContext({ ca: [], ...resolveTlsFlags({ cipherSuites: [name] }).settings })).not.toThrow();
  });

  test('suites: TLS 1.3 stays on, insecure ones are told, unknown ones are refused with a list', () => {
    const { settings, warnings } = resolveTlsFlags({ cipherSuites: ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'TLS_RSA_WITH_AES_128_CBC_SHA'] });
    expect(settings.ciphers).toBe('TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-RSA-AES256-GCM-SHA384:AES128-SHA');
    expect(warnings).toEqual(["Use of insecure cipher 'TLS_RSA_WITH_AES_128_CBC_SHA' detected."]);
    expect(resolveTlsFlags({ cipherSuites: ['TLS_FOO'] }).errors[0]).toMatch(
      /^Cipher suite TLS_FOO not supported or doesn't exist.*TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256/,
    );
  });

  test('curves', () => {
    expect(resolveTlsFlags({ curvePreferences: [29, 23] }).settings.ecdhCurve).toBe('X25519:P-256');
    expect(resolveTlsFlags({ curvePreferences: [0, 23, 23, 9999] }).errors).toEqual([
      'curve preference 0 is out of range (must be 1-65535)',
      'duplicate curve preference 23',
      'curve preference 9999 is not supported',
    ]);
  });
});
