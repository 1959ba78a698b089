import { describe, expect, it } from 'vitest';
import { compile } from '../cel.ts';
import { formatLiteral } from '../convert.ts';
import { CelErrors } from '../source.ts';
import { CelError } from '../values.ts';
import type { AuthorizationAttributes } from '../../api/authorization.ts';
import { AUTHORIZER, AuthorizerValue } from './authorizer.ts';
import { KUBERNETES_ENVIRONMENT } from './kubernetes.ts';

function result(text: string): string {
  const { value } = compile(text, KUBERNETES_ENVIRONMENT).evaluate({});
  return value instanceof CelError ? `error: ${value.message}` : formatLiteral(value);
}

describe("Kubernetes' libraries", () => {
  it.each([
    ["'abc'.charAt(3)", '""'],
    ["'abc'.charAt(4)", 'error: index out of range: 4'],
    ["'a😀b😀'.lastIndexOf('😀')", '3'],
    ["'tacocat'.substring(2, 1)", 'error: invalid substring range. start: 2, end: 1'],
    ["'a,b,c'.split(',', 2)", '["a", "b,c"]'],
    ["'aaa'.replace('a', 'b', 2)", '"bba"'],
    ["'\\t\\u0085 x \\u3000'.trim()", '"x"'],
    ["'ÀBc'.lowerAscii()", '"Àbc"'],
    ["'%s %d %x %b %o'.format([[1.5, 'a'], 3, 255, true, 8])", '"[1.500000, \\"a\\"] 3 ff 1 10"'],
    ["'%.2f|%f'.format([1234567.885, -0.5])", '"1,234,567.88|-0.500000"'],
    ["'%e'.format([3.14])", '"3.140000×10⁰⁰"'],
    ["'%d'.format([dyn('x')])", 'error: error during formatting: decimal clause can only be used on integers, was given string'],
    ["'abc 123'.find('[0-9]+') + 'x'.find('y')", '"123"'],
    ["'123 abc 456'.findAll('[0-9]+', 1)", '["123"]'],
    ["['('].map(p, 'x'.find(p))", 'error: Illegal regex: error parsing regexp: missing closing ): `(`'],
    ['[1, 3, 2].isSorted() || [2, 1].min() == 1', 'true'],
    ['dyn([]).max()', 'error: max called on empty list'],
    ["['a', 'b', 'a'].lastIndexOf('a')", '2'],
    ['[[[1]], [[2], [3]]].flatten()', '[[1], [2], [3]]'],
    ['[[[1]], [[2], [3]]].flatten(2)', '[1, 2, 3]'],
    ['[1, 2, 3].slice(1, 4)', 'error: cannot slice(1, 4), list is length 3'],
    ["['b', 'a', 'b'].distinct()", '["b", "a"]'],
    ['lists.range(3).reverse()', '[2, 1, 0]'],
    ['[1, 2].first().value() + [1, 2].last().value()', '3'],
    ['sets.equivalent([1, 2, 2], [2, 1]) && sets.intersects([1], [1, 2])', 'true'],
  ])('texts and lists: %s', (text, wanted) => {
    expect(result(text)).toBe(wanted);
  });

  it.each([
    ["url('https://user@Example.com:8080/a b/%2F?k=1&k=2&x=%zz#f').getHost()", '"Example.com:8080"'],
    ["url('https://[::1]:80/').getHostname() + url('https://[::1]:80/').getPort()", '"::180"'],
    ["url('https://example.com/path with spaces/').getEscapedPath()", '"/path%20with%20spaces/"'],
    ["url('https://a/?k=1&k=b+c&x=%zz').getQuery()", '{"k": ["1", "b c"]}'],
    ["url('../relative')", 'error: URL parse error during conversion from string: parse "../relative": invalid URI for request'],
    ["isURL('') || isURL('a b')", 'false'],
    ["ip('::ffff:1.2.3.4')", 'error: IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
    ["ip('fe80::1%eth0')", 'error: IP address "fe80::1%eth0" with zone value is not allowed'],
    ["ip('01.2.3.4')", 'error: IP Address "01.2.3.4" parse error during conversion from string: ParseAddr("01.2.3.4"): IPv4 field has octet with leading zero'],
    ["string(ip('2001:DB8:0:0:1:0:0:1'))", '"2001:db8::1:0:0:1"'],
    ["string(ip('1:2:3:4:5:6:7:0'))", '"1:2:3:4:5:6:7:0"'],
    ["ip.isCanonical('2001:DB8::1')", 'false'],
    ["ip('10.0.0.1').isGlobalUnicast() && ip('224.0.0.1').isLinkLocalMulticast() && ip('fe80::1').isLinkLocalUnicast()", 'true'],
    ["string(cidr('192.168.1.5/24').masked())", '"192.168.1.0/24"'],
    ["cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24') && !cidr('192.168.0.0/24').containsCIDR('192.168.0.0/23')", 'true'],
    [
      "cidr('10.0.0.0/33')",
      'error: network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0/33"): prefix length out of range',
    ],
    ["type(ip('1.2.3.4')) == net.IP", 'true'],
    ["ip('1.2.3.4') == cidr('1.2.3.4/32').ip()", 'true'],
  ])('addresses: %s', (text, wanted) => {
    expect(result(text)).toBe(wanted);
  });

  it.each([
    ["quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1000m') == quantity('1')", 'true'],
    ["quantity('50k').add(20).sub(quantity('100k')).asInteger()", '-49980'],
    ["quantity('1.5').asInteger()", 'error: cannot convert value to integer'],
    ["quantity('1.5Gi').asApproximateFloat()", '1610612736.0'],
    ["sign(quantity('-1'))", '-1'],
    ["semver('1.2.3-alpha.10').isGreaterThan(semver('1.2.3-alpha.9')) && semver('1.0.0').isGreaterThan(semver('1.0.0-rc'))", 'true'],
    ["semver('1.2.03')", 'error: Patch number must not contain leading zeroes "03"'],
    ["semver('v01.1', true).compareTo(semver('1.1.0'))", '0'],
    ["isSemver('v1.0') || isSemver('1.0+x', true)", 'false'],
    ["format.named('dns1035Label').value().validate('1a').value()[0].startsWith('a DNS-1035 label must consist of')", 'true'],
    ["format.datetime().validate('2021-01-01T00:00:00Z').hasValue() || format.date().validate('2021-02-30').hasValue()", 'true'],
    ["format.uuid().validate('x').value()", '["does not match the UUID format"]'],
    ["format.named('constructor').hasValue()", 'false'],
  ])('amounts, versions and formats: %s', (text, wanted) => {
    expect(result(text)).toBe(wanted);
  });

  it('has no functions that Kubernetes does not have', () => {
    for (const text of ['cel.bind(x, 1, x)', 'math.greatest(1, 2)', "base64.encode(b'a')", "'a'.reverse()"])
      expect(() => compile(text, KUBERNETES_ENVIRONMENT)).toThrow(CelErrors);
  });
});

describe('the authorizer', () => {
  const asked: AuthorizationAttributes[] = [];
  const authorizer = new AuthorizerValue({ name: 'jane', groups: ['dev'] }, (attributes) => {
    asked.push(attributes);
    return attributes.verb === 'list' ? { decision: 'allow', reason: 'because' } : { decision: 'noOpinion', reason: '', error: 'broken' };
  });
  const environment = KUBERNETES_ENVIRONMENT.extend({ variables: { authorizer: AUTHORIZER } });
  const ask = (text: string): string => {
    const { value } = compile(text, environment).evaluate({ authorizer });
    return value instanceof CelError ? `error: ${value.message}` : formatLiteral(value);
  };

  it('is asked about resources', () => {
    const check =
      "authorizer.group('apps').resource('deployments').subresource('status').namespace('ns').name('n').labelSelector('a=b').fieldSelector('!').check('list')";
    expect(ask(`${check}.allowed()`)).toBe('true');
    const { labelSelector, ...rest } = asked.at(-1)!;
    expect(rest).toEqual({
      user: { name: 'jane', groups: ['dev'] },
      verb: 'list',
      isResourceRequest: true,
      apiGroup: 'apps',
      apiVersion: '*',
      resource: 'deployments',
      subresource: 'status',
      namespace: 'ns',
      name: 'n',
      path: '',
    });
    expect(String(labelSelector)).toBe('a=b');
    expect(ask(`${check}.reason()`)).toBe('"because"');
  });

  it('is asked about paths and for service accounts', () => {
    expect(ask("authorizer.serviceAccount('ns', 'sa').path('/healthz').check('get').error()")).toBe('"broken"');
    expect(asked.at(-1)).toMatchObject({ user: { name: 'system:serviceaccount:ns:sa' }, path: '/healthz', isResourceRequest: false });
    expect(ask("authorizer.path(' ').check('get').errored()")).toBe('error: path must not be empty');
    expect(ask("authorizer.serviceAccount('Ns', 'sa').path('/x').check('get').allowed()")).toBe('error: Invalid service account namespace');
  });
});
