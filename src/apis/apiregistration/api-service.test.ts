import { expect, test } from 'vitest';
import { cellsOf, created, updated } from '../testing/kind-tester.ts';
import { apiServices } from './api-service.ts';

const remote = { group: 'g.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, service: { name: 'ext', namespace: 'default' } };
const service = (spec: object, name = 'v1.g.example.com'): object => ({ metadata: { name }, spec });

test.each([
  [service(remote), []],
  [service(remote, 'other'), ['metadata.name: Invalid value: "other": must be `spec.version+"."+spec.group`: "v1.g.example.com"']],
  [service({ ...remote, group: '', version: 'v2' }, 'v2.'), ['spec.group: Required value: only v1 may have an empty group and it better be legacy kube']],
  [
    service({ ...remote, groupPriorityMinimum: 20_001, versionPriority: 0 }),
    [
      'spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000',
      'spec.versionPriority: Invalid value: 0: must be positive and less than 1000',
    ],
  ],
  [
    service({ ...remote, service: { port: 70_000 } }),
    [
      'spec.service.namespace: Required value',
      'spec.service.name: Required value',
      'spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
    ],
  ],
  [
    service({ ...remote, caBundle: 'AAAA', insecureSkipTLSVerify: true }),
    ['spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present'],
  ],
  [service({ ...remote, service: undefined, caBundle: 'AAAA' }), ['spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle']],
])('%#', (sent, problems) => {
  expect(created(apiServices, sent).problems).toEqual(problems);
});

test('local ones are available at once, others unknown', () => {
  const { object } = created(apiServices, service(remote));
  expect(object.spec.service!.port).toBe(443);
  expect(cellsOf(apiServices, object)).toMatchObject({ Service: 'default/ext', Available: 'Unknown' });
  expect(cellsOf(apiServices, created(apiServices, service({ ...remote, service: undefined })).object)).toMatchObject({ Service: 'Local', Available: 'True' });
});

test('conditions are true, false or unknown', () => {
  const { object } = created(apiServices, service(remote));
  const condition = { type: 'Available', status: 'Maybe', lastTransitionTime: null, reason: 'R' };
  const result = updated(apiServices, object, ({ status }) => void (status.conditions = [condition]), 'status');
  expect(result.problems).toEqual(['status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"']);
  expect(cellsOf(apiServices, result.object)).toMatchObject({ Available: 'Maybe (R)' });
});
