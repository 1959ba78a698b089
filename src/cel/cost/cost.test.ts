import { describe, expect, it } from 'vitest';
import { compile } from '../cel.ts';
import { dataValue } from '../data/data-value.ts';
import type { DataSchema } from '../data/data-schema.ts';
import { declareType, declaredSizes, declaredTypes } from '../data/declared-type.ts';
import { AUTHORIZER, AuthorizerValue } from '../library/authorizer.ts';
import { KUBERNETES_ENVIRONMENT } from '../library/kubernetes.ts';
import { JSON_PATCH_LIBRARY } from '../library/mutation.ts';
import { CelError } from '../values.ts';

describe('costs of library calls', () => {
  const environment = KUBERNETES_ENVIRONMENT.extend({
    variables: { authorizer: AUTHORIZER },
    libraries: [JSON_PATCH_LIBRARY],
    isOptimized: false,
    isStrict: false,
  });
  const authorizer = new AuthorizerValue({ name: 'someone', groups: [] }, () => ({ decision: 'allow', reason: '' }));
  const texts = "['012345678901', '012345678901', '012345678901', '012345678901', '012345678901']";

  // Figures of apiserver/pkg/cel/library/cost_test.go, where nothing is evaluated ahead and texts have up to twelve characters.
  it.each([
    ['[1, 2, 3, 4, 5].sum()', 15, 15, 15],
    [`${texts}.isSorted()`, 15, 25, 15],
    [`${texts}.indexOf('x')`, 15, 25, 15],
    ["'01234567890123456789012345678901234567890123456789'.indexOf('123')", 5, 5, 5],
    ["url('https:://kubernetes.io/').getQuery()", 4, 4, 4],
    ["url('https:://kubernetes.io/') == url('https:://kubernetes.io/')", 7, 9, 7],
    ["ip('2001:db8:3333:4444:5555:6666:7777:8888').family()", 5, 5, 5],
    ["ip.isCanonical('2001:db8::abcd')", 3, 3, 3],
    ["cidr('192.168.0.0/16').containsCIDR('192.0.0.0/30')", 7, 11, 7],
    ["cidr('192.168.0.0/16').containsIP(ip('192.169.0.1'))", 5, 8, 5],
    ["'ABCDEFGHIJ abcdefghij'.lowerAscii() == 'abcdefghij ABCDEFGHIJ'.lowerAscii()", 7, 9, 9],
    ["strings.quote('ABCDEFGHIJ abcdefghij') == strings.quote('ABCDEFGHIJ abcdefghij')", 7, 11, 9],
    ["'abc 123 def 123'.replace('', 'x')", 3, 3, 3],
    ["['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join(' ')", 11, 23, 15],
    ["'abc 123 def 123'.findAll('123')", 2, 2, 2],
    ["jsonpatch.escapeKey('abc/def~ abc/def~')", 2, 2, 2],
    ["authorizer.group('').resource('pods').labelSelector('spec.nodeName=example-node-name.fully.qualified.domain.name.example.com')", 1821, 1821, 1821],
    ["authorizer.path('/healthz').check('get').allowed()", 350_003, 350_003, 350_003],
    ['quantity("200M") == quantity("0.2G") && quantity("0.2G") == quantity("200M")', 3, 6, 6],
    ['format.named("dns1123Subdomain").value().validate("my-name")', 34, 34, 17],
    ['format.named("dns1123Label").value() == format.named("dns1123Label").value()', 5, 11, 5],
    ['sets.contains([[1], [2, 3]], [[2, 3.0]])', 53, 53, 53],
    ['sets.equivalent([1, 2, 3], [3u, 2.0, 1])', 39, 39, 39],
  ])('%s: %d to %d, and %d', (text, min, max, cost) => {
    const program = compile(text, environment);
    expect(program.estimateCost(({ type }) => (type.kind === 'string' || type.kind === 'bytes' ? { min: 0, max: 12 } : undefined))).toEqual({ min, max });
    expect(program.evaluate({ authorizer }).cost).toBe(cost);
  });
});

describe('costs of rules on declared data', () => {
  const text: DataSchema = { type: 'string' };
  const schema: DataSchema = {
    type: 'object',
    properties: new Map<string, DataSchema>([
      ['name', text],
      ['short', { type: 'string', maxLength: 10 }],
      ['mode', { type: 'string', enumValues: ['Fast', 'Slower'] }],
      ['count', { type: 'integer' }],
      ['list', { type: 'array', items: { type: 'integer' } }],
      ['few', { type: 'array', items: { type: 'object', properties: new Map([['key', text]]) }, maxItems: 10 }],
      ['map', { type: 'object', additionalProperties: text, maxProperties: 10 }],
    ]),
  };
  const declared = declareType(schema, 'selfType')!;
  const environment = KUBERNETES_ENVIRONMENT.extend({ variables: { self: declared.type }, types: [declaredTypes(declared)] });
  const self = dataValue({ name: 'a-name', short: 'abc', mode: 'Fast', count: 3, list: [1, 2, 3], few: [{ key: 'a' }, { key: 'b' }], map: { x: 'y' } }, schema);

  it.each([
    ['self.count == 3', 3, 3],
    ['has(self.name)', 1, 1],
    ["has(self.name) ? self.count > 2 : self.mode == 'x'", 4, 5],
    ["self.mode in ['Fast', 'Slow']", 5, 2],
    ["self.name.startsWith('a')", 3, 3],
    ["self.short.matches('^[a-z]*$')", 12, 4],
    ["self.short.matches('^[a-z]*$') && self.name.contains('-')", 314_590, 8],
    ['self.list.all(x, x > 0)', 9_437_180, 19],
    ["self.few.exists(e, e.key == 'b')", 83, 19],
    ["self.few.map(e, e.key).join(',').size() > 0", 314_573_000_000, 41],
    ["self.map.all(k, self.map[k] == 'y')", 93, 10],
    ['self.few.all(a, self.few.all(b, a.key == b.key || true))', 31_458_660_00, 42],
  ])('%s', (rule, most, cost) => {
    const program = compile(rule, environment);
    const evaluation = program.evaluate({ self });
    expect(evaluation.value).not.toBeInstanceOf(CelError);
    expect([program.estimateCost(declaredSizes(declared)).max, evaluation.cost]).toEqual([most, cost]);
  });

  it('are without bound where sizes are', () => {
    const max = compile('self.list.all(a, self.list.all(b, self.list.all(c, a + b + c > 0)))', environment).estimateCost(declaredSizes(declared)).max;
    expect(max).toBeGreaterThan(1e19);
  });
});
