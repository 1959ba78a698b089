import type { Resource } from '../api/discovery.ts';
import type { JsonSchema, SchemaDocument } from './schema.ts';

const NAME = 'example';
const MAX_DEPTH = 12;

type Json = Record<string, unknown>;

/** What a type needs to be of use beside what its schema requires; by the type's name in the OpenAPI document. */
const USUAL: Readonly<Record<string, Json>> = {
  'io.k8s.api.core.v1.Container': { name: NAME, image: 'registry.k8s.io/pause:3.10' },
  'io.k8s.api.core.v1.PodTemplateSpec': { metadata: { labels: { app: NAME } } },
  'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector': { matchLabels: { app: NAME } },
  'io.k8s.api.apps.v1.DeploymentSpec': { replicas: 1 },
  'io.k8s.api.apps.v1.StatefulSetSpec': { replicas: 1, serviceName: NAME },
  'io.k8s.api.core.v1.ServiceSpec': { selector: { app: NAME }, ports: [{ name: 'http', port: 80 }] },
  'io.k8s.api.batch.v1.CronJobSpec': { schedule: '*/5 * * * *' },
  'io.k8s.api.core.v1.PersistentVolumeClaimSpec': { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  'io.k8s.api.core.v1.ResourceQuotaSpec': { hard: { pods: '10', 'requests.cpu': '4' } },
  'io.k8s.api.core.v1.LimitRangeItem': { type: 'Container', default: { cpu: '500m' } },
  'io.k8s.api.networking.v1.IngressSpec': { defaultBackend: { service: { name: NAME, port: { number: 80 } } } },
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec': { minReplicas: 1, maxReplicas: 3 },
  'io.k8s.api.rbac.v1.PolicyRule': { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
  'io.k8s.api.rbac.v1.RoleRef': { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: NAME },
};

/** The same for fields of kinds that keep what they have outside of a spec. */
const USUAL_FIELDS: Readonly<Record<string, Json>> = {
  ConfigMap: { data: { key: 'value' } },
  Secret: { stringData: { key: 'value' } },
  Role: { rules: [USUAL['io.k8s.api.rbac.v1.PolicyRule']] },
  ClusterRole: { rules: [USUAL['io.k8s.api.rbac.v1.PolicyRule']] },
  RoleBinding: { subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: NAME }] },
  ClusterRoleBinding: { subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: NAME }], roleRef: { kind: 'ClusterRole' } },
};
/** Templates of these run to an end, and must say so. */
const RUNS_TO_AN_END: ReadonlySet<string> = new Set(['io.k8s.api.batch.v1.JobSpec']);

/** A small object that the server would take: what the schema requires, and what makes it of use. */
export function exampleOf(document: SchemaDocument, { group, version, kind, isNamespaced }: Resource, namespace: string): Json {
  const schema = document.ofKind(group, version, kind);
  const body = schema === undefined ? {} : objectOf(document, schema, '', 0);
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...rest } = body;
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    metadata: { name: NAME, ...(isNamespaced && { namespace: namespace || 'default' }) },
    ...merged(rest, USUAL_FIELDS[kind] ?? {}),
  };
}

/** A spec is shown even where the schema lets it be left out: of kinds, and of the templates in them. */
function objectOf(document: SchemaDocument, schema: JsonSchema, typeName: string, depth: number): Json {
  const { properties = {}, required = [] } = schema;
  const names = [...new Set([...required, 'spec'])].filter((name) => name in properties);
  const own = Object.fromEntries(names.map((name) => [name, valueOf(document, properties[name]!, name, depth + 1)]));
  const whole = merged(own, USUAL[typeName] ?? {});
  return RUNS_TO_AN_END.has(typeName) ? merged(whole, { template: { spec: { restartPolicy: 'Never' } } }) : whole;
}

function valueOf(document: SchemaDocument, reference: JsonSchema, name: string, depth: number): unknown {
  const schema = document.resolve(reference);
  const typeName = document.nameOf(reference);
  if (depth > MAX_DEPTH) return {};
  if (schema.default !== undefined && !isEmptyMap(schema.default)) return schema.default;
  if (schema.enum !== undefined && schema.enum.length > 0) return schema.enum[0];
  switch (schema.type) {
    case 'object':
      return objectOf(document, schema, typeName, depth);
    case 'array':
      return schema.items === undefined ? [] : [valueOf(document, schema.items, name, depth + 1)];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return false;
    default:
      return textFor(schema, name);
  }
}

/** Only what the schema's words leave open is made up. */
function textFor({ format, oneOf }: JsonSchema, name: string): unknown {
  if (format === 'date-time') return '2026-01-01T00:00:00Z';
  if (format === 'int-or-string' || oneOf !== undefined) return 1;
  return name === 'schedule' ? '*/5 * * * *' : NAME;
}

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const isEmptyMap = (value: unknown): boolean => isMap(value) && Object.keys(value).length === 0;

/** The second wins; maps are merged. */
function merged(first: Json, second: Json): Json {
  const result = { ...first };
  for (const [name, value] of Object.entries(second)) {
    const old = result[name];
    result[name] = isMap(old) && isMap(value) ? merged(old, value) : value;
  }
  return result;
}
