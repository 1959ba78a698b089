// Custom resources as bodies to post: `{{name}}` stands for the name of each.

const GROUP = 'bench.example.com';

/** As much as an ordinary operator's own kind has: some twenty fields, defaults, a map, a list with keys, and three rules. */
const SPEC = {
  type: 'object',
  required: ['image', 'replicas'],
  properties: {
    image: { type: 'string', minLength: 1, maxLength: 256, pattern: '^[a-z0-9./:@_-]+$' },
    replicas: { type: 'integer', format: 'int32', minimum: 0, maximum: 100 },
    minReplicas: { type: 'integer', minimum: 0 },
    maxReplicas: { type: 'integer', minimum: 1, default: 10 },
    paused: { type: 'boolean', default: false },
    mode: { type: 'string', enum: ['Active', 'Standby', 'Disabled'], default: 'Active' },
    schedule: { type: 'string', maxLength: 64 },
    timeout: { type: 'string', format: 'duration' },
    labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 63 } },
    port: { 'x-kubernetes-int-or-string': true },
    owner: { type: 'object', properties: { team: { type: 'string' }, mail: { type: 'string', format: 'email' } } },
    storage: { type: 'object', properties: { sizeGiB: { type: 'integer', minimum: 1 }, class: { type: 'string', default: 'standard' } } },
    endpoints: {
      type: 'array',
      maxItems: 16,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name', 'port'],
        properties: {
          name: { type: 'string', maxLength: 63 },
          port: { type: 'integer', minimum: 1, maximum: 65535 },
          protocol: { type: 'string', default: 'TCP' },
        },
        'x-kubernetes-validations': [{ rule: "self.protocol != 'UDP' || self.port != 53", message: 'no name servers' }],
      },
    },
  },
  'x-kubernetes-validations': [
    { rule: '!has(self.minReplicas) || self.minReplicas <= self.replicas', message: 'replicas below the least' },
    { rule: "self.replicas <= self.maxReplicas && (self.mode != 'Disabled' || self.replicas == 0)", message: 'replicas above the most' },
  ],
};

const STATUS = {
  type: 'object',
  properties: {
    observedGeneration: { type: 'integer' },
    phase: { type: 'string' },
    conditions: {
      type: 'array',
      items: { type: 'object', required: ['type', 'status'], properties: { type: { type: 'string' }, status: { type: 'string' }, reason: { type: 'string' } } },
    },
  },
};

const definition = (plural, kind) => ({
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural, kind, singular: kind.toLowerCase() },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' }],
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: SPEC, status: STATUS } } },
      },
    ],
  },
});

const DEFINITIONS_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** One definition, whose objects are made; and any number, one for each name. */
export const machines = { path: DEFINITIONS_PATH, body: JSON.stringify(definition('machines', 'Machine')) };
export const definitions = { path: DEFINITIONS_PATH, body: JSON.stringify(definition('{{name}}s', 'Kind{{name}}')) };

/** A definition and an object of it, under names of their own. */
export const firstOf = (name) => ({
  definition: { path: DEFINITIONS_PATH, body: JSON.stringify(definition(`${name}s`, `Kind${name}`)) },
  collection: `/apis/${GROUP}/v1/namespaces/default/${name}s`,
  object: machine.body.replace('"Machine"', `"Kind${name}"`).replaceAll('{{name}}', 'first'),
});

export const machine = {
  path: `/apis/${GROUP}/v1/namespaces/default/machines`,
  body: JSON.stringify({
    kind: 'Machine',
    apiVersion: `${GROUP}/v1`,
    metadata: { name: '{{name}}', labels: { app: 'bench' } },
    spec: {
      image: 'registry.example.com/team/app:1.2.3',
      replicas: 3,
      minReplicas: 1,
      schedule: '*/5 * * * *',
      timeout: '30s',
      labels: { tier: 'backend', zone: 'a' },
      port: 'http',
      owner: { team: 'platform', mail: 'team@example.com' },
      storage: { sizeGiB: 20 },
      endpoints: [
        { name: 'http', port: 8080 },
        { name: 'metrics', port: 9090 },
      ],
    },
  }),
};
