import { describe, expect, test } from 'vitest';
import { summarize } from '../api/field-errors.ts';
import { parseAuthenticationConfiguration } from './authentication-configuration.ts';
import { noExpressions } from './expressions.ts';
import { validateAuthenticationConfiguration } from './validate-configuration.ts';

const header = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration' };
const issuer = { url: 'https://issuer.example.com', audiences: ['us'] };
const claimMappings = { username: { claim: 'sub', prefix: '' } };
const jwt = (more: object = {}) => ({ issuer, claimMappings, ...more });

async function problems(configuration: object, allowsEgressSelector = true): Promise<string> {
  const parsed = await parseAuthenticationConfiguration(JSON.stringify({ ...header, ...configuration }));
  const errors = validateAuthenticationConfiguration(parsed, {
    disallowedIssuers: ['https://own.example.com'],
    allowsEgressSelector,
    compile: noExpressions,
  });
  return errors.isEmpty ? '' : summarize(errors.list);
}

test('what is right is kept; an empty prefix is one', async () => {
  const parsed = await parseAuthenticationConfiguration(
    JSON.stringify({ ...header, jwt: [jwt()], anonymous: { enabled: true, conditions: [{ path: '/livez' }] } }),
  );
  expect(parsed.jwt).toEqual([jwt()]);
  expect(parsed.anonymous).toEqual({ enabled: true, conditions: [{ path: '/livez' }] });
  expect(await problems({})).toBe('');
});

describe('is refused', () => {
  test.each<[object, string]>([
    [{ jwt: [jwt({ issuer: { ...issuer, url: '' } })] }, 'jwt[0].issuer.url: Required value'],
    [{ jwt: [jwt({ issuer: { ...issuer, url: 'http://x' } })] }, 'jwt[0].issuer.url: Invalid value: "http://x": URL scheme must be https'],
    [{ jwt: [jwt({ issuer: { ...issuer, url: 'https://a:b@x?q=1#f' } })] }, 'URL must not contain a username or password'],
    [{ jwt: [jwt({ issuer: { ...issuer, url: 'https://own.example.com' } })] }, 'URL must not overlap with disallowed issuers: [https://own.example.com]'],
    [
      { jwt: [jwt({ issuer: { ...issuer, discoveryURL: 'https://issuer.example.com/' } })] },
      'jwt[0].issuer.discoveryURL: Invalid value: "https://issuer.example.com/": discoveryURL must be different from URL',
    ],
    [{ jwt: [jwt(), jwt()] }, 'jwt[1].issuer.url: Duplicate value: "https://issuer.example.com"'],
    [{ jwt: [jwt({ issuer: { url: issuer.url } })] }, 'jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required'],
    [{ jwt: [jwt({ issuer: { ...issuer, audiences: ['a', 'a'] } })] }, 'jwt[0].issuer.audiences[1]: Duplicate value: "a"'],
    [
      { jwt: [jwt({ issuer: { ...issuer, audiences: ['a', 'b'] } })] },
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
    ],
    [{ jwt: [jwt({ issuer: { ...issuer, certificateAuthority: 'x' } })] }, 'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>"'],
    [{ jwt: [jwt({ claimMappings: {} })] }, 'jwt[0].claimMappings.username: Required value: claim or expression is required'],
    [
      { jwt: [jwt({ claimMappings: { username: { claim: 'sub' } } })] },
      'jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing',
    ],
    [
      { jwt: [jwt({ claimMappings: { username: { claim: 'a', expression: 'b' } } })] },
      'jwt[0].claimMappings.username: Invalid value: "": claim and expression can\'t both be set',
    ],
    [
      { jwt: [jwt({ claimMappings: { ...claimMappings, extra: [{ key: 'Foo', valueExpression: 'x' }] } })] },
      'jwt[0].claimMappings.extra[0].key: Invalid value: "Foo": must be lowercase',
    ],
    [
      { jwt: [jwt({ claimMappings: { ...claimMappings, extra: [{ key: 'a.k8s.io/x', valueExpression: 'x' }] } })] },
      'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use',
    ],
    [{ jwt: [jwt({ claimValidationRules: [{}] })] }, 'jwt[0].claimValidationRules[0]: Required value: claim or expression is required'],
    [
      { jwt: [jwt({ claimValidationRules: [{ claim: 'a', message: 'm' }, { claim: 'a' }] })] },
      '[jwt[0].claimValidationRules[0].message: Invalid value: "m": may not be specified when claim is set, jwt[0].claimValidationRules[1].claim: Duplicate value: "a"]',
    ],
    [{ jwt: [jwt({ userValidationRules: [{ expression: '' }] })] }, 'jwt[0].userValidationRules[0].expression: Required value'],
    [
      { anonymous: { enabled: false, conditions: [{ path: '/x' }] } },
      'anonymous.conditions: Invalid value: [{"path":"/x"}]: enabled should be set to true when conditions are defined',
    ],
    [{ jwt: Array.from({ length: 65 }, () => jwt()) }, 'jwt: Too many: 65: must have at most 64 items'],
  ])('%j', async (configuration, message) => {
    expect(await problems(configuration)).toContain(message);
  });

  test('what is no such configuration', async () => {
    await expect(parseAuthenticationConfiguration('')).rejects.toThrow('empty config data');
    await expect(parseAuthenticationConfiguration(JSON.stringify({ ...header, jwts: [] }))).rejects.toThrow('strict decoding error: unknown field "jwts"');
    await expect(parseAuthenticationConfiguration(JSON.stringify({ ...header, jwt: {} }))).rejects.toThrow('cannot unmarshal object into Go struct field');
  });
});

test('a way to an issuer is one of two, and behind a gate', async () => {
  const through = (egressSelectorType: string) => ({ jwt: [jwt({ issuer: { ...issuer, egressSelectorType } })] });
  expect(await problems(through('cluster'))).toBe('');
  expect(await problems(through('controlplane'))).toBe('');
  expect(await problems(through('etcd'))).toBe(
    'jwt[0].issuer.egressSelectorType: Invalid value: "etcd": egress selector must be either controlplane or cluster',
  );
  expect(await problems(through('cluster'), false)).toBe(
    'jwt[0].issuer.egressSelectorType: Invalid value: "cluster": egress selector is not supported when StructuredAuthenticationConfigurationEgressSelector feature gate is disabled',
  );
});
