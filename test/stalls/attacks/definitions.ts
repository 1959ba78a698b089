import { type Attack, inNamespace, names, post, repeated } from '../attack.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const GROUP = 'definitions.example.com';

interface Version {
  schema: object;
  columns?: object[];
}

const definition = (plural: string, ...versions: Version[]) => ({
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural, kind: plural.slice(0, 1).toUpperCase() + plural.slice(1, -1) },
    versions: versions.map(({ schema, columns }, index) => ({
      name: `v${index + 1}`,
      served: true,
      storage: index === 0,
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
      ...(columns && { additionalPrinterColumns: columns }),
    })),
  },
});

const object = (properties: object) => ({ type: 'object', properties });
const fields = (prefix: string, count: number, schema: object) => object(Object.fromEntries(names(prefix, count).map((name) => [name, schema])));
/** A description on every field, as real definitions have. */
const TEXT = { type: 'string', description: 'A field of an object that a controller fills in, and that nobody reads.' };

function deep(levels: number, innermost: object): object {
  let schema = innermost;
  for (let level = 0; level < levels; level++) schema = object({ a: schema });
  return schema;
}

/** Creates it, lists its objects until it is served, reads its schema and deletes it: all that a definition sets off. */
const defined = (name: string, plural: string, ...versions: Version[]): Attack => ({
  name,
  row: 14,
  async send({ admin }) {
    const answer = await post(admin, DEFINITIONS, definition(plural, ...versions));
    if (answer.status !== 201) return answer;
    while ((await admin.send({ path: inNamespace(`${GROUP}/v1`, plural) })).status !== 200);
    await admin.send({ path: `/openapi/v3/apis/${GROUP}/v1` });
    return admin.send({ method: 'DELETE', path: `${DEFINITIONS}/${plural}.${GROUP}` });
  },
});

const rules = (count: number, rule: (index: number) => string) => repeated(count, (index) => ({ rule: rule(index), message: `rule ${index}` }));

const policy = (name: string, spec: object) => ({
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], resources: ['nothings'], operations: ['CREATE'] }] },
    ...spec,
  },
});

const policyAttack = (name: string, spec: object): Attack => ({
  name,
  row: 18,
  async send({ admin }) {
    const answer = await post(admin, `${ADMISSION}/validatingadmissionpolicies`, policy('large', spec));
    if (answer.status === 201) await admin.send({ method: 'DELETE', path: `${ADMISSION}/validatingadmissionpolicies/large` });
    return answer;
  },
});

/** Definitions of custom resources that are deep, wide or full of rules, and policies of many expressions. */
export const definitionAttacks: readonly Attack[] = [
  defined('a wide definition of 10,000 fields', 'wides', { schema: fields('f', 10_000, TEXT) }),
  defined('a definition of 100 × 100 fields', 'squares', { schema: fields('f', 100, fields('g', 100, TEXT)) }),
  defined('a definition of 200 levels', 'deeps', { schema: deep(200, TEXT) }),
  defined('a definition of 20 versions of 1,000 fields', 'versions', ...repeated(20, () => ({ schema: fields('f', 1_000, TEXT) }))),
  defined('a definition of 500 rules', 'rules', {
    schema: {
      ...object({ text: { type: 'string', maxLength: 10 } }),
      'x-kubernetes-validations': rules(500, (index) => `self.text != 'x${index}' || self.text.size() < ${index + 1}`),
    },
  }),
  defined('a definition of 1,000 patterns', 'patterns', {
    schema: object(Object.fromEntries(repeated(1_000, (index) => [`f${index}`, { type: 'string', pattern: `^([a-z]{1,63}\\.){0,${index % 50}}x${index}$` }]))),
  }),
  defined('a definition of 2,000 columns', 'columns', {
    schema: object({ text: TEXT }),
    columns: repeated(2_000, (index) => ({ name: `c${index}`, type: 'string', jsonPath: `.spec.text[${index}]` })),
  }),
  policyAttack('a policy of 1,000 validations', {
    validations: repeated(1_000, (index) => ({ expression: `object.metadata.name != 'x${index}' && size(object.metadata.name) > ${index}` })),
  }),
  policyAttack('a policy of 1,000 variables', {
    variables: repeated(1_000, (index) => ({ name: `v${index}`, expression: index === 0 ? '1' : `variables.v${index - 1} + 1` })),
    validations: [{ expression: 'variables.v999 > 0' }],
  }),
  policyAttack('a policy of one expression of 7,900 tokens', { validations: [{ expression: repeated(3_950, () => 'true').join('&&') }] }),
  policyAttack('a policy of one expression of 100,000 characters', { validations: [{ expression: repeated(12_000, () => 'true').join('&&') }] }),
  policyAttack('a policy of 40 expressions of 10,000 characters', {
    validations: repeated(40, (index) => ({ expression: `object.metadata.name in [${names(`'n${index}x`, 900).join(`',`)}']` })),
  }),
];
