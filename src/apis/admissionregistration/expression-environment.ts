import { type DeclaredType, declaredTypes } from '../../cel/data/declared-type.ts';
import { recordTypes } from '../../cel/data/record-types.ts';
import type { Environment } from '../../cel/environment.ts';
import { AUTHORIZER, RESOURCE_CHECK } from '../../cel/library/authorizer.ts';
import { KUBERNETES_ENVIRONMENT, formerKubernetesEnvironment } from '../../cel/library/kubernetes.ts';
import { JSON_PATCH_LIBRARY, MUTATION_TYPES } from '../../cel/library/mutation.ts';
import { BOOL, DYN, INT, STRING, TIMESTAMP, listType, mapType, structType, type CelType } from '../../cel/types.ts';

/** Which variables an expression of admission control has beside `object`, `oldObject`, `request` and `namespaceObject`. */
export interface Declarations {
  /** Whether `params` is declared. */
  hasParams: boolean;
  /** Whether `authorizer` is declared. */
  hasAuthorizer: boolean;
  /** See KindSettings. */
  hasFormerCel?: boolean | undefined;
  /** Whether the types that mutations are made of (`Object`, `JSONPatch`) are declared. */
  hasPatchTypes?: boolean;
}

const TEXTS = listType(STRING);
const TEXT_MAP = mapType(STRING, STRING);
const NAMES = [
  'AdmissionRequest',
  'GroupVersionKind',
  'GroupVersionResource',
  'UserInfo',
  'Namespace',
  'NamespaceMetadata',
  'NamespaceSpec',
  'NamespaceStatus',
  'NamespaceCondition',
] as const;
const [REQUEST, KIND, RESOURCE, USER, NAMESPACE, METADATA, SPEC, STATUS, CONDITION] = NAMES.map((name) => structType(`kubernetes.${name}`)) as [
  CelType,
  CelType,
  CelType,
  CelType,
  CelType,
  CelType,
  CelType,
  CelType,
  CelType,
];

/** apiserver/pkg/admission/plugin/cel/compile.go */
const TYPES = recordTypes({
  [REQUEST.name]: {
    kind: KIND,
    resource: RESOURCE,
    subResource: STRING,
    requestKind: KIND,
    requestResource: RESOURCE,
    requestSubResource: STRING,
    name: STRING,
    namespace: STRING,
    operation: STRING,
    userInfo: USER,
    dryRun: BOOL,
    options: DYN,
  },
  [KIND.name]: { group: STRING, version: STRING, kind: STRING },
  [RESOURCE.name]: { group: STRING, version: STRING, resource: STRING },
  [USER.name]: { username: STRING, uid: STRING, groups: TEXTS, extra: mapType(STRING, TEXTS) },
  [NAMESPACE.name]: { metadata: METADATA, spec: SPEC, status: STATUS },
  [METADATA.name]: {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: TEXT_MAP,
    annotations: TEXT_MAP,
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: TEXTS,
  },
  [SPEC.name]: { finalizers: TEXTS },
  [STATUS.name]: { conditions: listType(CONDITION), phase: STRING },
  [CONDITION.name]: { status: STRING, type: STRING, lastTransitionTime: TIMESTAMP, message: STRING, reason: STRING },
});

const environments = new Map<string, Environment>();

/** Without `variables`. */
export function declaredEnvironment({ hasParams, hasAuthorizer, hasPatchTypes = false, hasFormerCel = false }: Declarations): Environment {
  const key = `${hasParams} ${hasAuthorizer} ${hasPatchTypes} ${hasFormerCel}`;
  const known = environments.get(key);
  if (known) return known;
  const made = (hasFormerCel ? formerKubernetesEnvironment() : KUBERNETES_ENVIRONMENT).extend({
    variables: {
      object: DYN,
      oldObject: DYN,
      namespaceObject: NAMESPACE,
      request: REQUEST,
      ...(hasParams && { params: DYN }),
      ...(hasAuthorizer && { authorizer: AUTHORIZER, 'authorizer.requestResource': RESOURCE_CHECK }),
    },
    libraries: hasPatchTypes ? [JSON_PATCH_LIBRARY] : [],
    types: hasPatchTypes ? [TYPES, MUTATION_TYPES] : [TYPES],
  });
  environments.set(key, made);
  return made;
}

/** What a policy's expressions are checked against; undefined where a type is not known, and may be anything. */
export interface CheckedTypes {
  hasParams: boolean;
  params: DeclaredType | undefined;
}

/** For checks of types alone, without `variables`. As upstream declares it, which leaves out `authorizer.requestResource` (plugin/policy/validating, buildEnvSet). */
export function checkingEnvironment(object: DeclaredType | undefined, { hasParams, params }: CheckedTypes): Environment {
  const objectType = object?.type ?? DYN;
  return KUBERNETES_ENVIRONMENT.extend({
    variables: {
      object: objectType,
      oldObject: objectType,
      namespaceObject: NAMESPACE,
      request: REQUEST,
      authorizer: AUTHORIZER,
      ...(hasParams && { params: params?.type ?? DYN }),
    },
    types: [TYPES, ...[object, params].filter((type) => type !== undefined).map((type) => declaredTypes(type))],
  });
}

const VARIABLES = structType('kubernetes.variables');

/** The environment with `variables`, whose fields are asked for as expressions name them. */
export function withVariables(environment: Environment, typeOf: (name: string) => CelType | undefined): Environment {
  const provider = {
    findType: (name: string) => (name === VARIABLES.name ? VARIABLES : undefined),
    findField: (typeName: string, field: string) => (typeName === VARIABLES.name ? typeOf(field) : undefined),
  };
  return environment.extend({ variables: { variables: VARIABLES }, types: [provider] });
}

const PLAIN_KINDS = new Set(['any', 'bool', 'bytes', 'double', 'duration', 'int', 'null', 'string', 'timestamp', 'uint']);

/** What others see of a variable's type: objects are not looked into (plugin/cel/composition.go). */
export function variableType(type: CelType | undefined): CelType {
  if (type === undefined) return DYN;
  if (PLAIN_KINDS.has(type.kind)) return type;
  if (type.kind === 'list') return listType(variableType(type.parameters[0]));
  if (type.kind === 'map') return mapType(variableType(type.parameters[0]), variableType(type.parameters[1]));
  return DYN;
}
