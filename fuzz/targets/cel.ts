import { PlanError, compile } from '../../src/cel/cel.ts';
import { jsonValue } from '../../src/cel/data/json-value.ts';
import { KUBERNETES_ENVIRONMENT } from '../../src/cel/library/kubernetes.ts';
import { CelErrors } from '../../src/cel/source.ts';
import { DYN, INT, STRING, listType } from '../../src/cel/types.ts';
import { type FuzzTarget, WrongAnswer } from '../target.ts';
import { pod } from './objects.ts';

const COST_LIMIT = 1_000_000;
const environment = KUBERNETES_ENVIRONMENT.extend({ variables: { object: DYN, text: STRING, numbers: listType(INT) } });
const activation = { object: jsonValue(pod()), text: 'some text, 1.2.3.4', numbers: jsonValue([3, 1, 2, 5, 4]) };

/** Compiled, estimated and evaluated within the cost that Kubernetes allows an expression. */
export const cel: FuzzTarget = {
  name: 'cel',
  seeds: () => [
    "object.spec.containers.all(c, c.name.matches('^[a-z]+$') && has(c.image))",
    'numbers.filter(n, n > 2).map(n, n * 2).exists_one(n, n == 6) || size(text) < 5u',
    "text.split(',').map(s, s.trim()).join('-').replace('e', 'x').substring(1, 4).upperAscii() + string(1.5)",
    "duration('1h30m') < duration('2h') && timestamp('2024-01-02T03:04:05Z').getFullYear() == 2024",
    "quantity('1Gi').compareTo(quantity('500Mi')) > 0 && isIP('1.2.3.4') && cidr('10.0.0.0/8').containsIP('10.1.1.1')",
    "object.?metadata.?labels['app'].orValue('none') in ['web', 'api'] ? {'a': [1, 2.0, b'x']}.size() : -1",
    "text.find('[0-9]+') == '1' && text.findAll('[a-z]+').size() == 2 && url('https://a/b?c=d').getHost() == 'a'",
    "sets.contains([1, 2], [2]) && numbers.sort().isSorted() && semver('1.2.3').major() == 1 && '%s %d'.format(['a', 1]) == 'a 1'",
    'object.metadata.labels.transformMap(k, v, k + v).all(k, v, v.size() > 0)',
    "r'\\d' == '\\\\d' && '''x''' != \"\\u00e9\\x41\" && 0x10 == 16 && 1e3 == 1000.0 && !false",
  ],
  tokens: [
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '.',
    '?',
    ':',
    '&&',
    '||',
    '!',
    '+',
    '-',
    '*',
    '/',
    '%',
    '==',
    '<',
    ' in ',
    ',',
    "'",
    '"',
    'numbers',
    'object',
    'text',
    '.map(n, n)',
    '.all(n, true)',
    '.exists(n, n == 1)',
    '.filter(n, true)',
    '.matches("a*")',
    '1',
    '1u',
    '1.0',
    'null',
    'true',
    'has(',
    'size(',
    'dyn(',
    'string(',
    "'a'",
    'b"',
    'r"',
    '[1,2]',
    "{'a':1}",
    'type(',
    'int(',
  ],
  refusals: [CelErrors, PlanError],
  run(input) {
    const program = compile(input.toString(), environment);
    program.estimateCost(() => undefined);
    const { cost, cancelled } = program.evaluate(activation, { costLimit: COST_LIMIT });
    if (cost > COST_LIMIT && cancelled === undefined) throw new WrongAnswer(`an evaluation that cost ${cost} was not cut off`);
  },
};
