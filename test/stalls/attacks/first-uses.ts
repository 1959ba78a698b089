import type { Answer } from '../../support/api-client.ts';
import { type Attack, type AttackClients, inNamespace, names, post, repeated } from '../attack.ts';

/* Expressions that stand, and are compiled for the first request that they are about. */

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const MATCHED = 'matched';
const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] };
const matchConstraints = { resourceRules: [{ ...rule, resourceNames: [MATCHED] }] };

/** 10,000 characters that hold for every object. */
const longExpression = (index: number): string => `!(object.metadata.name in [${names(`'n${index}x`, 900).join(`',`)}'])`;
/** So many tokens as one expression may have, nearly. */
const MANY_TOKENS = repeated(3_900, () => 'true').join('&&');

interface Named {
  metadata: { name: string };
  [field: string]: unknown;
}

/** Creates it, and sees to its end. */
async function standing({ admin, onEnd }: AttackClients, plural: string, object: Named): Promise<void> {
  onEnd(() => admin.send({ method: 'DELETE', path: `${ADMISSION}/${plural}/${object.metadata.name}` }));
  await admin.create(`${ADMISSION}/${plural}`, object);
}

/** Writes until what stands is seen in the answer: none of its expressions is compiled before. */
async function writeUntil({ namespaceAdmin }: AttackClients, isMet: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await post(namespaceAdmin, `${inNamespace('v1', 'configmaps')}?dryRun=All`, { metadata: { name: MATCHED } });
    if (isMet(answer)) return answer;
  }
}

const bound = (name: string, kind: 'validating' | 'mutating', spec: object, isMet: (answer: Answer) => boolean): Attack => ({
  name: `the first write that a policy matches: ${name}`,
  row: 18,
  async send(clients) {
    const validationActions = kind === 'validating' ? ['Deny'] : undefined;
    await standing(clients, `${kind}admissionpolicybindings`, { metadata: { name: 'first' }, spec: { policyName: 'first', validationActions } });
    await standing(clients, `${kind}admissionpolicies`, { metadata: { name: 'first' }, spec: { failurePolicy: 'Fail', matchConstraints, ...spec } });
    return writeUntil(clients, isMet);
  },
});

const denying = (name: string, spec: { validations?: object[] }): Attack =>
  bound(name, 'validating', { ...spec, validations: [...(spec.validations ?? []), { expression: 'false' }] }, ({ status }) => status === 422);

const LABEL = `'add', path: '/metadata/labels', value: {'met': 'yes'}`;

/** Of each mutation, what holds for every object. */
const labelling = (name: string, mutations: readonly string[]): Attack =>
  bound(
    name,
    'mutating',
    {
      reinvocationPolicy: 'Never',
      mutations: [...mutations.map((holds) => `'test', path: '/metadata/name', value: ${holds} ? '${MATCHED}' : ''`), LABEL].map((patch) => ({
        patchType: 'JSONPatch',
        jsonPatch: { expression: `[JSONPatch{op: ${patch}}]` },
      })),
    },
    ({ text }) => text.includes('"met":"yes"'),
  );

const webhook = (name: string, expressions: readonly string[]): Attack => ({
  name: `the first write that a webhook's conditions are about: ${name}`,
  row: 18,
  async send(clients) {
    const conditions = [...expressions, '1 / 0 == 1'].map((expression, index) => ({ name: `c${index}`, expression }));
    await standing(clients, 'validatingwebhookconfigurations', {
      metadata: { name: 'first' },
      webhooks: [
        {
          name: 'first.example.com',
          clientConfig: { url: 'https://a.example.com/' },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          rules: [rule],
          objectSelector: {},
          matchConditions: conditions,
        },
      ],
    });
    return writeUntil(clients, ({ status }) => status === 403);
  },
});

/** Which a controller does, for up to ten kinds. */
const typeChecked = (name: string, spec: object): Attack => ({
  name: `the types of a policy that are checked: ${name}`,
  row: 18,
  async send(clients) {
    const kinds = { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments', 'daemonsets', 'statefulsets', 'replicasets'], operations: ['CREATE'] };
    const policy = { metadata: { name: 'checked' }, spec: { matchConstraints: { resourceRules: [kinds] }, ...spec } };
    await standing(clients, 'validatingadmissionpolicies', policy);
    for (;;) {
      const answer = await clients.admin.send({ path: `${ADMISSION}/validatingadmissionpolicies/checked` });
      if (answer.text.includes('"typeChecking"')) return answer;
    }
  },
});

export const firstUseAttacks: readonly Attack[] = [
  denying('40 validations of 10,000 characters', { validations: repeated(40, (index) => ({ expression: longExpression(index) })) }),
  denying('4 validations of 7,800 tokens', { validations: repeated(4, () => ({ expression: MANY_TOKENS })) }),
  denying('messages of 40 validations', {
    validations: repeated(40, (index) => ({ expression: 'true', messageExpression: `${longExpression(index)} ? 'a' : 'b'` })),
  }),
  labelling('40 mutations of 10,000 characters', repeated(40, longExpression)),
  labelling(
    '40 mutations that take long',
    repeated(40, () => `[${names('1', 200).join(',')}].all(a, [${names('1', 100).join(',')}].all(b, a * b > 0))`),
  ),
  webhook(
    '60 of 10,000 characters',
    repeated(60, (index) => longExpression(index)),
  ),
  webhook(
    '10 of 7,800 tokens',
    repeated(10, () => MANY_TOKENS),
  ),
  typeChecked('40 expressions of 10,000 characters', { validations: repeated(40, (index) => ({ expression: longExpression(index) })) }),
  typeChecked('500 variables', {
    variables: repeated(500, (index) => ({ name: `v${index}`, expression: index === 0 ? '1' : `variables.v${index - 1} + 1` })),
    validations: [{ expression: 'variables.v499 > 0' }],
  }),
];
