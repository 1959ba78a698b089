import { type ExampleKind, NAMESPACE as KINDS_NAMESPACE, exampleKinds } from '../../kinds/examples.ts';
import { type Attack, type AttackClients, inNamespace, post } from '../attack.ts';
import { type Place, filled, placesOf } from '../filled-objects.ts';

let hasNamespace = false;

/** The namespace of the examples. */
export async function prepareKinds({ admin }: AttackClients): Promise<void> {
  if (!hasNamespace) await admin.create('/api/v1/namespaces', { metadata: { name: KINDS_NAMESPACE } });
  hasNamespace = true;
}

const fill =
  (kind: ExampleKind, place: Place): Attack['send'] =>
  ({ admin }) =>
    post(admin, `${kind.path}?dryRun=All`, filled(kind, place));

/** The ones that took longest. */
const LONGEST: Readonly<Record<string, readonly string[]>> = {
  'v1/configmaps': ['metadata.finalizers', 'metadata.ownerReferences', 'data'],
  'v1/pods': ['spec.volumes', 'spec.volumes.projected.sources', 'spec.volumes.configMap.items', 'spec.containers', 'spec.containers.ports'],
  'v1/nodes': ['status.conditions', 'spec.taints'],
  'v1/endpoints': ['subsets.addresses', 'subsets.ports'],
  'v1/resourcequotas': ['spec.scopeSelector.matchExpressions'],
};

const kinds = exampleKinds();

/** Lists and maps filled with as many values as a body may have. */
export const filledKindAttacks: readonly Attack[] = [
  ...Object.entries(LONGEST).flatMap(([name, places]) =>
    places.map((place): Attack => ({
      name: `90,000 values in ${name} ${place}`,
      row: 17,
      prepare: prepareKinds,
      send: fill(
        kinds.find((kind) => kind.name === name)!,
        place.split('.'),
      ),
    })),
  ),
  {
    name: "82 KB of YAML's repeated keys",
    row: 17,
    send: ({ admin }) =>
      admin.send({
        method: 'POST',
        path: inNamespace('v1', 'configmaps'),
        headers: { 'content-type': 'application/yaml' },
        body: `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: repeated\ndata:\n${'  a: \n'.repeat(13_600)}`,
      }),
  },
];

const filledAttack = (kind: ExampleKind, place: Place): Attack => ({
  name: `90,000 values in ${kind.name} ${place.join('.')}`,
  row: 17,
  prepare: prepareKinds,
  send: fill(kind, place),
});

/**
 * Every list and map of every type, in the first kind that has it: some 340 requests. STALLS_EVERY_PLACE=1 adds the same lists in all other kinds and places,
 * two thousand more, of which a pod's template is the most.
 */
export const everyKindAttacks: readonly Attack[] = (() => {
  const seen = new Set<string>();
  const first: Attack[] = [];
  const others: Attack[] = [];
  for (const kind of kinds) {
    for (const [owner, [place, ...more]] of placesOf(kind.schema)) {
      (seen.has(owner) ? others : first).push(filledAttack(kind, place!));
      seen.add(owner);
      others.push(...more.map((other) => filledAttack(kind, other)));
    }
  }
  return process.env['STALLS_EVERY_PLACE'] === '1' ? [...first, ...others] : first;
})();
