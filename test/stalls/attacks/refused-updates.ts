import { type Attack, inNamespace, names, patch, repeated } from '../attack.ts';

/** Every other item is another one in the update: the lines between them are compared again and again. */
const mixed = (own: string, count: number): string[] => names('c', count).flatMap((name) => [`${own}${name}`, name]);

function podUpdate(title: string, args: (own: string) => string[]): Attack {
  const path = inNamespace('v1', 'pods');
  const pod = (own: string): object => ({ metadata: { name: 'refused' }, spec: { containers: [{ name: 'c', image: 'i', args: args(own) }] } });
  return {
    name: `an update of a pod with ${title}`,
    row: 17,
    async prepare({ namespaceAdmin, onEnd }) {
      onEnd(() => namespaceAdmin.send({ method: 'DELETE', path: `${path}/refused?gracePeriodSeconds=0` }));
      await namespaceAdmin.create(path, pod('a'));
    },
    send: ({ namespaceAdmin }) => patch(namespaceAdmin, `${path}/refused`, 'strategic-merge-patch', pod('b')),
  };
}

function claimUpdate(title: string, values: (own: string) => string[]): Attack {
  const path = inNamespace('v1', 'persistentvolumeclaims');
  const claim = (own: string): object => ({
    metadata: { name: 'refused' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      selector: { matchExpressions: [{ key: 'k', operator: 'In', values: values(own) }] },
    },
  });
  return {
    name: `an update of a claim with ${title}`,
    row: 17,
    async prepare({ namespaceAdmin, onEnd }) {
      onEnd(() => patch(namespaceAdmin, `${path}/refused`, 'merge-patch', { metadata: { finalizers: null } }));
      onEnd(() => namespaceAdmin.send({ method: 'DELETE', path: `${path}/refused` }));
      await namespaceAdmin.create(path, claim('a'));
    },
    send: ({ namespaceAdmin }) => patch(namespaceAdmin, `${path}/refused`, 'merge-patch', claim('b')),
  };
}

/** What may not change is shown as a diff of lines, whose costs can grow with the square of their number. */
export const refusedUpdateAttacks: readonly Attack[] = [
  podUpdate('700 arguments that are mixed with others', (own) => mixed(own, 350)),
  podUpdate('5,000 arguments that are mixed with others', (own) => mixed(own, 2_500)),
  podUpdate('30,000 arguments that are mixed with others', (own) => mixed(own, 15_000)),
  podUpdate('10,000 arguments that repeat each other', (own) => [own, ...repeated(10_000, (index) => `a${index % 101}`)]),
  claimUpdate('2,000 values that are mixed with others', (own) => mixed(own, 1_000)),
  claimUpdate('20,000 values that are mixed with others', (own) => mixed(own, 10_000)),
  claimUpdate('20,000 values that repeat each other', (own) => [own, ...repeated(20_000, (index) => `a${index % 101}`)]),
];
