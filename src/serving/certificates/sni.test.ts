import { describe, expect, test } from 'vitest';
import { createAuthority, createSelfSigned, signCertificate } from './create.ts';
import { buildNameTable, findByName, namesOfCertificate, parseSniFlag } from './sni.ts';

describe('--tls-sni-cert-key', () => {
  test.each([
    ['foo.crt,foo.key', { certFile: 'foo.crt', keyFile: 'foo.key', names: [] }],
    [' foo.crt , foo.key ', { certFile: 'foo.crt', keyFile: 'foo.key', names: [] }],
    ['foo.crt,foo.key:*.foo.com, foo.com', { certFile: 'foo.crt', keyFile: 'foo.key', names: ['*.foo.com', 'foo.com'] }],
  ])('%s', (value, expected) => expect(parseSniFlag(value)).toEqual(expected));

  test.each([
    ['foo.crt', 'expected comma separated certificate and key file paths'],
    ['a,b,c', 'expected comma separated certificate and key file paths'],
    ['foo.crt,foo.key:', 'empty names list is not allowed'],
  ])('%s is refused', (value, message) => expect(() => parseSniFlag(value)).toThrow(message));
});

describe('which certificate serves a name', () => {
  const table = buildNameTable([
    { value: 'first', explicitNames: [], certificateNames: ['a.example', '*.example'] },
    { value: 'second', explicitNames: ['b.example', '*.deep.example'], certificateNames: ['ignored.example'] },
    { value: 'third', explicitNames: ['a.example'], certificateNames: [] },
  ]);
  test.each([
    ['a.example', 'third'],
    ['A.Example', 'third'],
    ['b.example', 'second'],
    ['c.example', 'first'],
    ['x.deep.example', 'second'],
    ['ignored.example', 'first'],
    ['x.y.example', undefined],
    ['constructor', undefined],
  ])('%s → %s', (name, expected) => expect(findByName(table, name)).toBe(expected));

  test('a certificate brings its names, never its addresses', () => {
    const authority = createAuthority({ commonName: 'ca' });
    const named = signCertificate(authority, { commonName: '*.foo.com', usages: ['server'], hosts: ['foo.com'], ips: ['1.2.3.4'] });
    expect(namesOfCertificate(named)).toEqual(['*.foo.com', 'foo.com']);
    expect(namesOfCertificate(createSelfSigned({ commonName: '10.0.0.1', hosts: ['localhost'] }))).toEqual(['localhost']);
    expect(namesOfCertificate(signCertificate(authority, { commonName: '10.0.0.1', usages: ['server'] }))).toEqual([]);
  });
});
