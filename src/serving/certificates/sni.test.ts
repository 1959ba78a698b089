import { describe, expect, test } from 'vitest';
import { createAuthority, createSelfSigned, signCertificate } from './create.ts';
import { buildNameTable, findByName, namesOfCertificate } from './sni.ts';

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
