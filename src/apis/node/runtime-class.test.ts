import { expect, test } from 'vitest';
import { created, testWrite, updated } from '../testing/kind-tester.ts';
import { runtimeClasses } from './runtime-class.ts';

const metadata = { name: 'gvisor' };
const toleration = { key: 'a', operator: 'Exists', effect: 'NoSchedule' };

test.each([
  [{ handler: 'runsc', overhead: { podFixed: { cpu: '10m' } }, scheduling: { nodeSelector: { a: 'b' }, tolerations: [toleration] } }, []],
  [{}, ['handler: Required value']],
  [{ handler: 'a.b' }, ['handler: Invalid value: "a.b": must not contain dots']],
  [{ handler: 'a', overhead: { podFixed: { cpu: '-1' } } }, ['overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0']],
  [
    { handler: 'a', scheduling: { tolerations: [toleration, toleration] } },
    ['scheduling.tolerations[1]: Duplicate value: {"Key":"a","Operator":"Exists","Value":"","Effect":"NoSchedule","TolerationSeconds":null}'],
  ],
])('%j', (sent, problems) => {
  expect(created(runtimeClasses, { metadata, ...sent }).problems).toEqual(problems);
});

test('the handler stays, and deprecated labels are told of', () => {
  const { object } = created(runtimeClasses, { metadata, handler: 'a', scheduling: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } } });
  expect(updated(runtimeClasses, object, (next) => void (next.handler = 'b')).problems).toEqual(['handler: Invalid value: "b": field is immutable']);
  expect(runtimeClasses.warnings?.(testWrite(object))).toEqual(['scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead']);
});
