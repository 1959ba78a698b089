/* Definitions of the shapes and sizes that widely used projects bring, and objects of theirs; written for these tests. */

type Schema = Record<string, unknown>;

export interface Project {
  /** Whose definitions look like this. */
  like: string;
  definition: { metadata: { name: string }; spec: { group: string; names: { plural: string; kind: string }; versions: { name: string }[] } };
  valid: object;
  /** Specs that are refused, each with a part of what is said. */
  invalid: readonly [spec: object, message: string][];
  /** A field for `kubectl explain`, and the type it tells. */
  explained: [field: string, type: string];
}

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const integer = (more: Schema = {}): Schema => ({ type: 'integer', format: 'int32', ...more });
const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });
const list = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more });
const keyed = (key: string, items: Schema, more: Schema = {}): Schema =>
  list({ ...items, required: [key] }, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key], ...more });
const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });
const choice = (...values: string[]): Schema => ({ type: 'string', enum: values });
const intOrString: Schema = { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true };
const quantity: Schema = { ...intOrString, pattern: String.raw`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$` };
const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const rule = (expression: string, message: string): Schema => ({ rule: expression, message });

const secretKey = object({ name: { ...text, default: '' }, key: text, optional: flag }, { required: ['key'], 'x-kubernetes-map-type': 'atomic' });
const selector = object({
  matchLabels: mapOf(text),
  matchExpressions: list(object({ key: text, operator: text, values: list(text) }, { required: ['key', 'operator'] })),
});
const conditions = keyed('type', object({ type: { ...text, maxLength: 316 }, status: choice('True', 'False', 'Unknown'), reason: text, message: text }));
const probe = object({
  httpGet: object({ path: text, port: intOrString }, { required: ['port'] }),
  periodSeconds: integer(),
  exec: object({ command: list(text) }),
});
const container = object({
  name: text,
  image: text,
  args: list(text),
  env: keyed('name', object({ name: text, value: text, valueFrom: object({ secretKeyRef: secretKey }) })),
  ports: list(object({ name: text, containerPort: integer(), protocol: { ...text, default: 'TCP' } })),
  resources: object({ limits: mapOf(quantity), requests: mapOf(quantity) }),
  livenessProbe: probe,
  readinessProbe: probe,
});
const podTemplate = object({
  metadata: anything,
  spec: object(
    {
      containers: keyed('name', container),
      initContainers: keyed('name', container),
      nodeSelector: mapOf(text),
      tolerations: list(object({ key: text, operator: text, effect: text })),
      affinity: object({ podAffinity: object({ required: list(object({ labelSelector: selector, topologyKey: text })) }) }),
      volumes: keyed('name', object({ name: text, emptyDir: anything, secret: object({ secretName: text }) })),
    },
    { required: ['containers'] },
  ),
});

/** As deep as the widest of them: each level holds lists of itself and the fields of a container. */
const nested = (depth: number): Schema =>
  depth === 0 ? container : object({ ...(container['properties'] as Record<string, Schema>), steps: list(nested(depth - 1)) });

interface Shape {
  like: string;
  group: string;
  kind: string;
  spec: Schema;
  more?: object;
  versions?: readonly string[];
  scope?: string;
  valid: object;
  invalid: Project['invalid'];
  explained: Project['explained'];
}

function project({ like, group, kind, spec, more = {}, versions = ['v1'], scope = 'Namespaced', ...rest }: Shape): Project {
  const singular = kind.toLowerCase();
  const plural = singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
  const openAPIV3Schema = object(
    { apiVersion: text, kind: text, metadata: { type: 'object' }, spec, status: object({ conditions, replicas: integer() }) },
    { required: ['spec'] },
  );
  return {
    like,
    ...rest,
    definition: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope,
        names: { plural, singular, kind, listKind: `${kind}List`, shortNames: [singular.slice(0, 4)], categories: ['projects'] },
        versions: versions.map((name, index) => ({
          name,
          served: true,
          storage: index === 0,
          subresources: { status: {} },
          additionalPrinterColumns: [
            { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          schema: { openAPIV3Schema },
          ...more,
        })),
      },
    } as Project['definition'],
  };
}

const scale = { subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } };
const template = { spec: { containers: [{ name: 'main', image: 'app', resources: { limits: { cpu: 1, memory: '1Gi' } } }] } };

export const PROJECTS: readonly Project[] = [
  project({
    like: 'cert-manager',
    group: 'certificates.projects.example.com',
    kind: 'Certificate',
    versions: ['v1', 'v1beta1'],
    spec: object(
      {
        secretName: text,
        dnsNames: list({ ...text, maxLength: 253 }, { maxItems: 100 }),
        duration: text,
        issuerRef: object({ name: text, kind: { ...text, default: 'Issuer' }, group: text }, { required: ['name'] }),
        privateKey: object({ algorithm: choice('RSA', 'ECDSA', 'Ed25519'), size: integer({ minimum: 256 }), rotationPolicy: choice('Never', 'Always') }),
        usages: list(choice('signing', 'digital signature', 'server auth', 'client auth')),
        keystores: object({ jks: object({ create: flag, passwordSecretRef: secretKey }, { required: ['create'] }) }),
      },
      { required: ['issuerRef', 'secretName'] },
    ),
    valid: { secretName: 'tls', dnsNames: ['example.com'], issuerRef: { name: 'ca' }, privateKey: { algorithm: 'ECDSA', size: 256 } },
    invalid: [
      [{ secretName: 'tls' }, 'spec.issuerRef: Required value'],
      [{ secretName: 'tls', issuerRef: { name: 'ca' }, usages: ['walking'] }, 'supported values: "signing", "digital signature", "server auth", "client auth"'],
    ],
    explained: ['spec.privateKey.size', '<integer>'],
  }),
  project({
    like: 'Gateway API',
    group: 'gateways.projects.example.com',
    kind: 'Route',
    versions: ['v1', 'v1alpha2'],
    spec: object({
      hostnames: list(
        { ...text, minLength: 1, maxLength: 253, pattern: String.raw`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$` },
        { maxItems: 16, 'x-kubernetes-list-type': 'set' },
      ),
      rules: list(
        object(
          {
            matches: list(
              object({
                path: object({ type: { ...choice('Exact', 'PathPrefix'), default: 'PathPrefix' }, value: { ...text, maxLength: 1024, default: '/' } }),
              }),
              { maxItems: 8 },
            ),
            backends: list(
              object(
                { name: { ...text, maxLength: 63 }, port: integer({ minimum: 1, maximum: 65535 }), weight: integer({ default: 1, minimum: 0 }) },
                { required: ['name'] },
              ),
              { maxItems: 16 },
            ),
            redirect: object({ statusCode: integer({ enum: [301, 302] }) }),
          },
          { 'x-kubernetes-validations': [rule('!has(self.redirect) || !has(self.backends) || size(self.backends) == 0', 'a redirect has no backends')] },
        ),
        { maxItems: 16, default: [{ matches: [{ path: {} }] }] },
      ),
    }),
    valid: { hostnames: ['*.example.com'], rules: [{ backends: [{ name: 'web', port: 80 }] }] },
    invalid: [
      [{ hostnames: ['UPPER'] }, "spec.hostnames[0] in body should match '"],
      [{ rules: [{ redirect: { statusCode: 301 }, backends: [{ name: 'web' }] }] }, 'spec.rules[0]: Invalid value: a redirect has no backends'],
      [{ hostnames: ['a.example', 'a.example'] }, 'spec.hostnames[1]: Duplicate value: "a.example"'],
    ],
    explained: ['spec.rules.backends.weight', '<integer>'],
  }),
  project({
    like: 'Crossplane',
    group: 'compositions.projects.example.com',
    kind: 'Composition',
    scope: 'Cluster',
    spec: object({
      mode: { ...choice('Pipeline', 'Resources'), default: 'Pipeline' },
      pipeline: keyed(
        'step',
        object({ step: text, functionRef: object({ name: text }, { required: ['name'] }), input: { ...anything, 'x-kubernetes-embedded-resource': true } }),
      ),
      compositeTypeRef: object(
        { apiVersion: text, kind: text },
        { required: ['apiVersion', 'kind'], 'x-kubernetes-validations': [rule('self == oldSelf', 'the type cannot change')] },
      ),
    }),
    valid: {
      compositeTypeRef: { apiVersion: 'v1', kind: 'A' },
      pipeline: [{ step: 'one', functionRef: { name: 'f' }, input: { apiVersion: 'f/v1', kind: 'Input', any: { thing: [1] } } }],
    },
    invalid: [
      [{ pipeline: [{ step: 'one', input: { any: 1 } }] }, 'spec.pipeline[0].input.apiVersion: Required value'],
      [{ pipeline: [{ step: 'one' }, { step: 'one' }] }, 'spec.pipeline[1]: Duplicate value: {"step":"one"}'],
    ],
    explained: ['spec.compositeTypeRef.kind', '<string>'],
  }),
  project({
    like: 'Prometheus operator',
    group: 'monitors.projects.example.com',
    kind: 'Monitor',
    more: scale,
    spec: object({
      replicas: integer(),
      retention: { ...text, pattern: '^(0|(([0-9]+)y)?(([0-9]+)d)?(([0-9]+)h)?)$', default: '24h' },
      podMetadata: object({ labels: mapOf(text) }),
      containers: keyed('name', container),
      storage: object({ volumeClaimTemplate: anything }),
      remoteWrite: list(
        object(
          { url: { ...text, minLength: 1 }, authorization: object({ type: text, credentials: secretKey }), queueConfig: object({ capacity: integer() }) },
          { required: ['url'] },
        ),
      ),
      podTemplate,
      selector,
    }),
    valid: {
      replicas: 2,
      selector: { matchLabels: { app: 'x' } },
      podTemplate: template,
      remoteWrite: [{ url: 'https://a', authorization: { credentials: { key: 'k' } } }],
    },
    invalid: [
      [{ retention: 'long' }, 'spec.retention in body should match'],
      [{ podTemplate: { spec: {} } }, 'spec.podTemplate.spec.containers: Required value'],
    ],
    explained: ['spec.podTemplate.spec.containers.livenessProbe.periodSeconds', '<integer>'],
  }),
  project({
    like: 'Argo Workflows',
    group: 'workflows.projects.example.com',
    kind: 'Workflow',
    spec: object(
      { entrypoint: text, arguments: anything, steps: list(nested(6)), parallelism: { type: 'integer', format: 'int64' } },
      { required: ['entrypoint'] },
    ),
    valid: { entrypoint: 'main', arguments: { free: { form: [1, 'a', null] } }, steps: [{ name: 'a', steps: [{ name: 'b', steps: [{ name: 'c' }] }] }] },
    invalid: [
      [{}, 'spec.entrypoint: Required value'],
      [{ entrypoint: 'x', steps: [{ steps: [{ steps: [{ env: [{ value: 'nameless' }] }] }] }] }, 'spec.steps[0].steps[0].steps[0].env[0].name: Required value'],
    ],
    explained: ['spec.steps.steps.steps.readinessProbe.httpGet.path', '<string>'],
  }),
  project({
    like: 'Argo Rollouts',
    group: 'rollouts.projects.example.com',
    kind: 'Rollout',
    more: {
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' },
      },
    },
    spec: object({
      replicas: integer({ nullable: true, minimum: 0 }),
      selector,
      template: podTemplate,
      strategy: object(
        {
          canary: object({
            maxSurge: intOrString,
            steps: list(object({ setWeight: integer({ minimum: 0, maximum: 100 }), pause: object({ duration: intOrString }) })),
          }),
          blueGreen: object({ activeService: text }),
        },
        { oneOf: [{ required: ['canary'] }, { required: ['blueGreen'] }] },
      ),
    }),
    valid: { replicas: 1, template, strategy: { canary: { maxSurge: '25%', steps: [{ setWeight: 20 }, { pause: { duration: 10 } }] } } },
    invalid: [
      [{ strategy: { canary: {}, blueGreen: {} } }, '"spec.strategy" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
      [{ strategy: { canary: { maxSurge: true } } }, 'spec.strategy.canary.maxSurge in body must be of type integer,string: "boolean"'],
    ],
    explained: ['spec.strategy.canary.steps.setWeight', '<integer>'],
  }),
  project({
    like: 'Knative',
    group: 'revisions.projects.example.com',
    kind: 'Revision',
    spec: object(
      {
        template: object({
          metadata: anything,
          spec: { ...anything, properties: { containers: list({ ...anything }), timeoutSeconds: { type: 'integer', format: 'int64' } } },
        }),
        traffic: list(object({ percent: { type: 'integer', format: 'int64' }, tag: text, latestRevision: flag })),
      },
      { 'x-kubernetes-preserve-unknown-fields': true },
    ),
    valid: {
      template: { spec: { containers: [{ image: 'x', unknown: { deep: 1 } }], timeoutSeconds: 300 } },
      traffic: [{ percent: 100, latestRevision: true }],
      beyond: 'kept',
    },
    invalid: [[{ traffic: [{ percent: 'all' }] }, 'spec.traffic[0].percent in body must be of type integer: "string"']],
    explained: ['spec.traffic.percent', '<integer>'],
  }),
  project({
    like: 'KEDA',
    group: 'scalers.projects.example.com',
    kind: 'ScaledObject',
    more: scale,
    spec: object(
      {
        replicas: integer(),
        minReplicas: integer(),
        maxReplicas: integer(),
        scaleTarget: object({ name: text, kind: text, apiVersion: text }, { required: ['name'] }),
        triggers: list(
          object(
            { type: text, metadata: mapOf(text), useCachedMetrics: flag, authentication: object({ name: text }, { required: ['name'] }) },
            { required: ['type', 'metadata'] },
          ),
        ),
      },
      {
        required: ['scaleTarget', 'triggers'],
        'x-kubernetes-validations': [
          rule('!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas', 'the least is above the most'),
        ],
      },
    ),
    valid: { scaleTarget: { name: 'web' }, triggers: [{ type: 'cron', metadata: { start: '0 8 * * *' } }], minReplicas: 1, maxReplicas: 5 },
    invalid: [
      [{ scaleTarget: { name: 'web' }, triggers: [], minReplicas: 6, maxReplicas: 5 }, 'spec: Invalid value: the least is above the most'],
      [
        { scaleTarget: { name: 'web' }, triggers: [{ type: 'cron', metadata: { n: 1 } }] },
        'spec.triggers[0].metadata.n in body must be of type string: "integer"',
      ],
    ],
    explained: ['spec.triggers.metadata', '<map[string]string>'],
  }),
  project({
    like: 'External Secrets',
    group: 'secrets.projects.example.com',
    kind: 'SecretStore',
    versions: ['v1', 'v1beta1', 'v1alpha1'],
    spec: object({
      provider: object(
        Object.fromEntries(
          Array.from({ length: 30 }, (_, index) => [
            `provider${index}`,
            object({ url: text, region: text, auth: object({ secretRef: object({ id: secretKey, key: secretKey }), jwt: object({ audiences: list(text) }) }) }),
          ]),
        ),
        { minProperties: 1, maxProperties: 1 },
      ),
      retrySettings: object({ maxRetries: integer(), retryInterval: text }),
      conditions: list(object({ namespaceSelector: selector, namespaces: list({ ...text, minLength: 1, maxLength: 63 }) })),
    }),
    valid: { provider: { provider7: { url: 'https://a', auth: { secretRef: { id: { key: 'id' } } } } } },
    invalid: [
      [{ provider: {} }, 'spec.provider in body should have at least 1 properties'],
      [{ provider: { provider1: {}, provider2: {} } }, 'spec.provider: Too many: 2: must have at most 1 item'],
    ],
    explained: ['spec.provider.provider29.auth.secretRef.id.key', '<string>'],
  }),
  project({
    like: 'Flux',
    group: 'releases.projects.example.com',
    kind: 'HelmRelease',
    versions: ['v2', 'v2beta1'],
    spec: object(
      {
        interval: { ...text, pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$' },
        chart: object({
          spec: object({
            chart: text,
            version: { ...text, default: '*' },
            sourceRef: object({ kind: choice('HelmRepository', 'Bucket'), name: text }, { required: ['name'] }),
          }),
        }),
        chartRef: object({ kind: text, name: text }),
        values: { 'x-kubernetes-preserve-unknown-fields': true },
        suspend: flag,
        driftDetection: object({ mode: choice('enabled', 'warn', 'disabled'), ignore: list(object({ paths: list(text) }, { required: ['paths'] })) }),
      },
      { required: ['interval'], 'x-kubernetes-validations': [rule('has(self.chart) != has(self.chartRef)', 'either chart or chartRef must be set')] },
    ),
    valid: { interval: '5m', chart: { spec: { chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'r' } } }, values: { any: [{ thing: true }] } },
    invalid: [
      [{ interval: '5m' }, 'spec: Invalid value: either chart or chartRef must be set'],
      [{ interval: 'soon', chartRef: {} }, 'spec.interval in body should match'],
    ],
    explained: ['spec.chart.spec.version', '<string>'],
  }),
];
