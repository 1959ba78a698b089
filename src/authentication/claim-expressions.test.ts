import { describe, expect, test } from 'vitest';
import { summarize } from '../api/field-errors.ts';
import type { JwtConfiguration } from './authentication-configuration.ts';
import { compileClaimExpression } from './claim-expressions.ts';
import { claimReader } from './claims.ts';
import { validateAuthenticationConfiguration } from './validate-configuration.ts';

const issuer = { url: 'https://issuer.example.com', audiences: ['us'] };
const read = (configuration: JwtConfiguration) => claimReader(configuration, compileClaimExpression);
const problems = (configuration: JwtConfiguration): string => {
  const options = { disallowedIssuers: [], allowsEgressSelector: false, compile: compileClaimExpression };
  return summarize(validateAuthenticationConfiguration({ jwt: [{ issuer, ...configuration }] }, options).list);
};

const configuration: JwtConfiguration = {
  claimMappings: {
    username: { expression: "claims.sub + '@' + claims.tenant" },
    groups: { expression: "claims.roles.split(',').map(role, 'oidc:' + role)" },
    uid: { expression: 'claims.?uid.orValue("none")' },
    extra: [
      { key: 'example.com/level', valueExpression: 'string(claims.level)' },
      { key: 'example.com/empty', valueExpression: '""' },
    ],
  },
  claimValidationRules: [{ expression: "claims.tenant in ['ours', 'yours']", message: 'unknown tenant' }],
  userValidationRules: [
    { expression: "!user.username.startsWith('system:') && user.groups.all(group, group != 'oidc:root') && user.uid != ''", message: 'reserved' },
  ],
};
const claims = { sub: 'alice', tenant: 'ours', roles: 'devs,ops', level: 7, jti: 'j1' };

test('expressions make the user', () => {
  expect(read(configuration)(claims)).toEqual({
    name: 'alice@ours',
    uid: 'none',
    groups: ['oidc:devs', 'oidc:ops'],
    extra: { 'authentication.kubernetes.io/credential-id': ['JTI=j1'], 'example.com/level': ['7'] },
  });
});

describe('and may refuse him', () => {
  test.each([
    [
      { ...claims, tenant: 'theirs' },
      "oidc: error evaluating claim validation expression: validation expression 'claims.tenant in ['ours', 'yours']' failed: unknown tenant",
    ],
    [{ ...claims, sub: 'system:x' }, 'failed: reserved'],
    [{ ...claims, roles: 'root' }, 'failed: reserved'],
    [{ ...claims, sub: 7 }, 'oidc: error evaluating username claim expression: expression'],
    [
      { sub: 'alice', tenant: 'ours', level: 1 },
      "oidc: error evaluating group claim expression: expression 'claims.roles.split(',').map(role, 'oidc:' + role)' resulted in error: no such key: roles",
    ],
  ])('%j', (odd, message) => {
    expect(() => read(configuration)(odd)).toThrow(message);
  });

  test('what is no name is none', () => {
    expect(() => read({ claimMappings: { username: { expression: 'claims.level' } } })(claims)).toThrow('username claim expression must return a string');
    expect(() => read({ claimMappings: { username: { expression: "''" } } })(claims)).toThrow('oidc: empty username via CEL expression is not allowed');
    expect(() => read({ claimMappings: { username: { expression: 'claims.sub' }, groups: { expression: '[1]' } } })(claims)).toThrow(
      'expression must return a string or a list of strings',
    );
  });
});

describe('a configuration', () => {
  const username = { claim: 'sub', prefix: '' };

  test('with good expressions is taken', () => {
    expect(problems(configuration)).toBe('[]');
    expect(
      problems({
        claimMappings: { username: { expression: 'claims.email' } },
        claimValidationRules: [{ expression: 'claims.?email_verified.orValue(true) == true' }],
      }),
    ).toBe('[]');
  });

  test.each<[JwtConfiguration, string]>([
    [
      { claimMappings: { username: { expression: 'claims.' } } },
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.": compilation failed: ERROR: <input>:1:8: Syntax error',
    ],
    [{ claimMappings: { username: { expression: 'name' } } }, "undeclared reference to 'name'"],
    [
      { claimMappings: { username }, claimValidationRules: [{ expression: 'claims.ok' }] },
      'jwt[0].claimValidationRules[0].expression: Invalid value: "claims.ok": must evaluate to bool',
    ],
    [{ claimMappings: { username }, userValidationRules: [{ expression: 'user.surname == ""' }] }, "undefined field 'surname'"],
    [{ claimMappings: { username: { expression: 'claims.email' } } }, 'claims.email_verified must be used in claimMappings.username.expression'],
  ])('%j is refused', (odd, message) => {
    expect(problems(odd)).toContain(message);
  });
});
