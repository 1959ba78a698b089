import { describe, expect, it } from 'vitest';
import { compile, type Program } from '../cel.ts';
import { dataValue } from '../data/data-value.ts';
import type { DataSchema } from '../data/data-schema.ts';
import { type DeclaredType, declareType, declaredSizes, declaredTypes } from '../data/declared-type.ts';
import { AUTHORIZER, AuthorizerValue } from '../library/authorizer.ts';
import { KUBERNETES_ENVIRONMENT } from '../library/kubernetes.ts';
import { JSON_PATCH_LIBRARY } from '../library/mutation.ts';

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

/** Figures of apiextensions-apiserver's schema/cel/celcoststability_test.go. */
describe('costs of rules on declared data', () => {
  const text: DataSchema = { type: 'string' };
  const object = (properties: Record<string, DataSchema>): DataSchema => ({ type: 'object', properties: new Map(Object.entries(properties)) });
  const programFor = (rule: string, schema: DataSchema): { program: Program; declared: DeclaredType } => {
    const declared = declareType(schema, 'selfType', true)!;
    return { program: compile(rule, KUBERNETES_ENVIRONMENT.extend({ variables: { self: declared.type }, types: [declaredTypes(declared)] })), declared };
  };

  it.each([
    ["self.val1.startsWith('Rook')", 4],
    ["!self.val1.startsWith('knight')", 5],
    ["self.val1.matches('^[^0-9]*$')", 8],
    ['size(self.val1) == 12', 4],
    ["self.val1.indexOf('o', 2) == 2", 4],
    ["self.val1.replace(' ', 'x', 1) == 'Rookxtakes 👑'", 7],
    ["self.val1.split(' ') == ['Rook', 'takes', '👑']", 6],
    ["self.val1.substring(4, 10).trim() == 'takes'", 6],
    ["self.val1.upperAscii() == 'ROOK TAKES 👑'", 6],
    ['type(self.val1) == string', 4],
  ])('%s costs %d', (rule, cost) => {
    const schema = object({ val1: text, val2: text });
    const evaluation = programFor(rule, schema).program.evaluate({ self: dataValue({ val1: 'Rook takes 👑', val2: 'Rook takes 👑' }, schema) });
    expect([evaluation.value, evaluation.cost]).toEqual([true, cost]);
  });

  const nested = object({
    obj: object({ field: text, absentField: text }),
    mapOfList: { type: 'object', additionalProperties: { type: 'array', items: text, maxItems: 10 }, maxProperties: 10 },
    listMapOfObj: { type: 'array', items: object({ k2: text, v2: text }), listType: 'map', listMapKeys: ['k2'], maxItems: 10 },
    listOfMap: { type: 'array', items: { type: 'object', additionalProperties: text, maxProperties: 10 }, maxItems: 10 },
    m: { type: 'object', additionalProperties: text },
    l: { type: 'array', items: text },
    val1: text,
  });

  it.each([
    ["self.obj.field == 'a'", 4],
    ["self.mapOfList['l'][0] == 'e'", 5],
    ["self.listMapOfObj.exists(e, e.k2 == '2' && e.v2 == 'f')", 103],
    ['self.mapOfList.map(k, k).map(k, k).size() == 1', 286],
    ['self.mapOfList.map(k, self.mapOfList[k].map(l, l)).size() == 1', 1585],
    ['self.listOfMap.map(e, e.map(m, m)).size() == 1', 1555],
    ["self.obj.?field.orValue('v') == 'a'", 5],
    ["self.l[?0].optMap(v, v == 'a').hasValue()", 22],
    ["optional.of('a').or(optional.of('a')).hasValue()", 4],
    ['isQuantity(self.val1)', 314_575],
    // A tenth of all that a uint64 holds, and four: the sizes of optionals are not known.
    ["self.obj.?field == optional.of('a')", 2 ** 64 / 10 + 4],
  ])('%s costs at most %d', (rule, most) => {
    const { program, declared } = programFor(rule, nested);
    expect(program.estimateCost(declaredSizes(declared)).max).toBe(most);
  });
});
