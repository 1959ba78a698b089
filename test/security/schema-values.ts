import type { Random } from '../../src/util/test-random.ts';

/** As much of an OpenAPI v3 schema as values are made from. */
export interface Schema {
  $ref?: string;
  allOf?: Schema[];
  oneOf?: Schema[];
  type?: string;
  format?: string;
  enum?: string[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema;
  items?: Schema;
}

export interface OpenApi {
  paths: Record<string, { post?: { requestBody?: { content: Record<string, { schema: Schema }> } } }>;
  components: { schemas: Record<string, Schema> };
}

const TEXTS = [
  '',
  'a',
  'A',
  'name-1',
  'default',
  '0',
  '-1',
  'x'.repeat(64),
  'x'.repeat(254),
  'example.org/name',
  'a.b.c',
  'a/b/c',
  '..',
  '../x',
  '%',
  'é',
  '\u0000',
  '\ud83d\ude00',
  ' ',
  '*',
  '{}',
  '[',
  'TCP',
  'ClusterIP',
  'Always',
  'IfNotPresent',
  'Never',
  'RuntimeDefault',
  'Localhost',
  'Exists',
  'In',
  'Equal',
  'NoSchedule',
  'ReadWriteOnce',
  'Filesystem',
  'Role',
  'ClusterRole',
  'User',
  'Group',
  'ServiceAccount',
  'Pod',
  'v1',
  'rbac.authorization.k8s.io',
  '10.0.0.1',
  '010.0.0.1',
  '::1',
  '::ffff:1.2.3.4',
  '10.0.0.0/8',
  '10.0.0.0/99',
  'fe80::/10',
  'http',
  '80',
  '100%',
  '-5%',
  '1.5',
  '1Gi',
  '-1Mi',
  '1e3',
  '1e-3',
  '1n',
  '0.0001',
  'NaN',
  '999999999999999999999',
  '1E',
  'cpu',
  'memory',
  'pods',
  'hugepages-2Mi',
  'example.com/gpu',
  'requests.cpu',
  '2020-01-01T00:00:00Z',
  '2020-02-30T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999Z',
  '1h',
  '-1h',
  '1h1',
  '* * * * *',
  '@every 1s',
  '0 0 31 2 *',
  'CRON_TZ=Mars/Olympus 0 0 * * *',
  'Europe/Berlin',
  'aGVsbG8=',
  '***',
  'LS0tLS1CRUdJTg==',
  '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  '(a+)+$',
  '[',
  'self.x == 1',
  'object.spec.replicas <= 5',
  '{.metadata.name}',
  '.spec.x',
  '{"a":1}',
  'kubernetes.io/hostname',
  'metadata.name',
  'status.hostIP',
  'object',
  'string',
  'integer',
  'array',
  'date-time',
];
/** On these, an expression that can match in several ways takes until tomorrow. */
const LONG_TEXTS = ['0', 'a', '-', '.', 'a.', 'a-', ' ', '(', '1:', 'a/', '[a]', '\\', '__', '\n', 'a=b,', '{.a}', '* ', '%41'].flatMap((unit) => {
  const text = unit.repeat(5000 / unit.length);
  return [text, `${text}!`];
});
const NUMBERS = [0, 1, -1, 2, 3, 10, 80, 443, 1000, 65535, 65536, 30000, 2147483647, -2147483648, 2147483648, 2 ** 53, 1.5, 1e30, -0.5];
const OTHERS: unknown[] = [null, {}, [], true, '', 0, [null], { a: null }, [[[]]], { '': '' }, { __proto__x: 1 }];
const DEPTH_MAX = 9;

/** Makes up values that mostly fit their schema, so that what looks at them closely is reached, and now and then do not. */
export class ValueMaker {
  readonly #random: Random;
  readonly #schemas: Record<string, Schema>;
  constructor(random: Random, schemas: Record<string, Schema>) {
    this.#random = random;
    this.#schemas = schemas;
  }

  value(schema: Schema, depth = 0): unknown {
    const random = this.#random;
    if (random.chance(0.02)) return random.pick(OTHERS);
    const inner = schema.$ref ?? schema.allOf?.[0]?.$ref;
    if (inner !== undefined) return this.value(this.#schemas[inner.slice(inner.lastIndexOf('/') + 1)] ?? {}, depth);
    if (schema.oneOf) return this.value(random.pick(schema.oneOf), depth);
    if (schema.enum && random.chance(0.8)) return random.pick(schema.enum);
    switch (schema.type) {
      case 'string':
        if (schema.format === 'int-or-string' && random.chance(0.5)) return random.pick(NUMBERS);
        return random.pick(random.chance(0.02) ? LONG_TEXTS : TEXTS);
      case 'integer':
      case 'number':
        return random.pick(NUMBERS);
      case 'boolean':
        return random.chance(0.5);
      case 'array':
        return depth >= DEPTH_MAX ? [] : Array.from({ length: random.below(4) }, () => this.value(schema.items ?? {}, depth + 1));
      case 'object':
        return this.#object(schema, depth);
      default:
        return random.chance(0.5) ? random.pick(TEXTS) : random.pick(OTHERS);
    }
  }

  #object({ properties, required = [], additionalProperties }: Schema, depth: number): object {
    const random = this.#random;
    if (!properties) {
      const values = additionalProperties ?? { type: 'string' };
      return Object.fromEntries(Array.from({ length: depth >= DEPTH_MAX ? 0 : random.below(3) }, () => [random.pick(TEXTS), this.value(values, depth + 1)]));
    }
    const wanted = depth >= DEPTH_MAX ? 0 : random.pick([0.1, 0.3, 0.7]);
    const names = Object.keys(properties).filter((name) => random.chance(required.includes(name) ? 0.95 : wanted));
    return Object.fromEntries(names.map((name) => [name, this.value(properties[name]!, depth + 1)]));
  }
}
