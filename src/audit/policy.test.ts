import { describe, expect, it, test } from 'vitest';
import { parseRequestInfo } from '../server/request-info.ts';
import type { User } from '../api/user.ts';
import { type AuditPolicy, type AuditRule, compilePolicy } from './policy.ts';
import { parsePolicy } from './policy-file.ts';

const ALICE: User = { name: 'alice', groups: ['devs', 'system:authenticated'] };
const levelOf = (policy: AuditPolicy, method: string, target: string, user = ALICE): string =>
  compilePolicy(policy)(parseRequestInfo(method, target), user).level;

const POD = '/api/v1/namespaces/n/pods/p';
const SCALE = '/apis/apps/v1/namespaces/n/deployments/d/scale';

/** Each row: a rule, then requests that it matches, then requests that it does not. */
const RULES: [rule: Partial<AuditRule>, matches: string[], others: string[]][] = [
  [{}, [`GET ${POD}`, 'GET /healthz', 'POST /apis'], []],
  [{ users: ['alice'] }, [`GET ${POD}`, 'GET /healthz'], []],
  [{ users: ['bob'] }, [], [`GET ${POD}`]],
  [{ userGroups: ['ops', 'devs'] }, [`GET ${POD}`], []],
  [{ userGroups: ['ops'] }, [], [`GET ${POD}`]],
  [{ verbs: ['get', 'watch'] }, [`GET ${POD}`, 'GET /api/v1/pods?watch=1', 'GET /healthz'], [`DELETE ${POD}`]],
  [{ namespaces: ['n'] }, [`GET ${POD}`], ['GET /api/v1/pods', 'GET /healthz']],
  [{ namespaces: [''] }, ['GET /api/v1/nodes/a', 'GET /api/v1/pods'], [`GET ${POD}`, 'GET /healthz']],
  [{ resources: [{ group: '' }] }, [`GET ${POD}`, `GET ${POD}/log`], [`GET ${SCALE}`, 'GET /healthz']],
  [{ resources: [{}] }, [`GET ${POD}`], [`GET ${SCALE}`]],
  [{ resources: [{ group: '*' }] }, [`GET ${POD}`, `GET ${SCALE}`], ['GET /version']],
  [{ resources: [{ resources: ['pods'] }] }, [`GET ${POD}`], [`GET ${POD}/log`, 'GET /api/v1/nodes/p']],
  [{ resources: [{ resources: ['pods/log'] }] }, [`GET ${POD}/log`], [`GET ${POD}`, `GET ${POD}/status`]],
  [{ resources: [{ resources: ['pods/*'] }] }, [`GET ${POD}/log`, `GET ${POD}`], ['GET /api/v1/nodes/p/status']],
  [{ resources: [{ group: 'apps', resources: ['*/scale'] }] }, [`GET ${SCALE}`], ['GET /apis/apps/v1/namespaces/n/deployments/d']],
  [{ resources: [{ group: '*', resources: ['*'] }] }, [`GET ${SCALE}`, `GET ${POD}`, `GET ${POD}/log`], ['GET /metrics']],
  [{ resources: [{ resources: ['pods'], resourceNames: ['p'] }] }, [`GET ${POD}`], ['GET /api/v1/namespaces/n/pods', 'GET /api/v1/namespaces/n/pods/q']],
  [{ nonResourceURLs: ['/healthz*', '/metrics'] }, ['GET /healthz', 'GET /healthz/etcd', 'GET /metrics'], ['GET /metrics/slis', `GET ${POD}`]],
  [{ nonResourceURLs: ['*'] }, ['GET /', 'GET /version'], [`GET ${POD}`]],
  [
    { verbs: ['get'], users: ['alice'], namespaces: ['n'], resources: [{ resources: ['pods'] }] },
    [`GET ${POD}`],
    [`DELETE ${POD}`, 'GET /api/v1/namespaces/m/pods/p'],
  ],
];

test.each(RULES)('the rule %j', (rule, matches, others) => {
  const policy: AuditPolicy = { rules: [{ level: 'Metadata', ...rule }] };
  const level = (request: string): string => levelOf(policy, request.split(' ')[0]!, request.split(' ')[1]!);
  expect(matches.filter((request) => level(request) !== 'Metadata')).toEqual([]);
  expect(others.filter((request) => level(request) !== 'None')).toEqual([]);
});

describe('a policy', () => {
  it('takes the first rule that matches', () => {
    const policy: AuditPolicy = { rules: [{ level: 'None', verbs: ['watch'] }, { level: 'Request', resources: [{}] }, { level: 'Metadata' }] };
    expect(['GET /api/v1/pods?watch=1', 'GET /api/v1/pods', 'GET /version'].map((request) => levelOf(policy, 'GET', request.slice(4)))).toEqual([
      'None',
      'Request',
      'Metadata',
    ]);
  });
  it('matches nobody by name', () => {
    const rules: AuditRule[] = [{ level: 'Request', users: ['', 'alice'] }, { level: 'Request', userGroups: ['', 'devs'] }, { level: 'Metadata' }];
    expect(compilePolicy({ rules })(parseRequestInfo('GET', '/version'), undefined).level).toBe('Metadata');
  });
  it('joins the stages to omit, and lets a rule have the last word on managed fields', () => {
    const decide = compilePolicy({
      omitStages: ['RequestReceived'],
      omitManagedFields: true,
      rules: [{ level: 'Request', verbs: ['get'], omitStages: ['ResponseStarted'], omitManagedFields: false }, { level: 'Metadata' }],
    });
    expect(decide(parseRequestInfo('GET', POD), ALICE)).toEqual({
      level: 'Request',
      omitStages: new Set(['RequestReceived', 'ResponseStarted']),
      omitManagedFields: false,
    });
    expect(decide(parseRequestInfo('PUT', POD), ALICE)).toEqual({ level: 'Metadata', omitStages: new Set(['RequestReceived']), omitManagedFields: true });
  });
});

const HEAD = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
const parse = (text: string, warnings: string[] = []): Promise<AuditPolicy> => parsePolicy(text, (message) => warnings.push(message));

describe('a policy file', () => {
  it('is YAML or JSON', async () => {
    await expect(parse(`${HEAD}rules: [{level: Metadata, users: []}]`)).resolves.toMatchObject({ rules: [{ level: 'Metadata' }] });
    await expect(parse('{"kind":"Policy","apiVersion":"audit.k8s.io/v1","metadata":{"name":"x"},"rules":[{"level":"None"}]}')).resolves.toMatchObject({
      rules: [{ level: 'None' }],
    });
  });
  it('may have fields that nobody knows, with a warning', async () => {
    const warnings: string[] = [];
    await expect(parse(`${HEAD}rules: [{level: None, colour: red}]`, warnings)).resolves.toMatchObject({ rules: [{ level: 'None' }] });
    expect(warnings).toEqual(['Audit policy contains errors, falling back to lenient decoding: strict decoding error: unknown field "rules[0].colour"']);
  });
  test.each([
    ['rules: []', 'unknown group version field audit.k8s.io/__internal, Kind=Policy in policy'],
    [`${HEAD}rules: []`, 'loaded illegal policy with 0 rules'],
    [HEAD, 'loaded illegal policy with 0 rules'],
    ['apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: []', 'failed decoding: no kind "Policy" is registered for version "audit.k8s.io/v1beta1"'],
    ['apiVersion: audit.k8s.io/v1\nrules: []', "failed decoding: Object 'Kind' is missing in"],
    ['[]', "failed decoding: couldn't get version/kind"],
    ['a: [', 'failed decoding: '],
    [`${HEAD}rules: {}`, 'failed decoding: json: cannot unmarshal object into Go struct field Policy.rules of type []v1.PolicyRule'],
  ])('%j is refused', async (text, message) => {
    await expect(parse(text)).rejects.toThrow(message);
  });
  it('is told of all its errors at once', async () => {
    const rules = [
      '{}',
      '{level: Loud}',
      '{level: None, nonResourceURLs: [healthz, "/a*b", "*"], namespaces: [ns]}',
      '{level: None, resources: [{group: Rbac/v1, resourceNames: [a]}], omitStages: [Never]}',
    ];
    await expect(parse(`${HEAD}omitStages: [Soon]\nrules: [${rules.join(', ')}]`)).rejects.toThrow(
      [
        '[omitStages[0]: Invalid value: "Soon": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
        'rules[0].level: Required value',
        'rules[1].level: Unsupported value: "Loud": supported values: "None", "Metadata", "Request", "RequestResponse"',
        `rules[2].nonResourceURLs[0]: Invalid value: "healthz": non-resource URL rules must begin with a '/' character`,
        `rules[2].nonResourceURLs[1]: Invalid value: "/a*b": non-resource URL wildcards '*' must be the final character of the rule`,
        'rules[2].nonResourceURLs: Invalid value: ["healthz","/a*b","*"]: rules cannot apply to both regular resources and non-resource URLs',
        'rules[3].resources.group: Invalid value: "Rbac/v1": a lowercase RFC 1123 subdomain must consist of',
      ].join(', '),
    );
  });
});
