import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import { SCENARIO } from '../placeholders.ts';
import type { Wait } from '../step.ts';
import { addDelete } from './deletes.ts';
import type { Draft } from './draft.ts';
import { kindNamed } from './kinds.ts';
import { addCreate, addPatch, addUpdate } from './writes.ts';

/* Quotas and limit ranges, and what they let in. */

const IN_NAMESPACE = `/api/v1/namespaces/${SCENARIO}`;
const COUNTED = [
  'configmaps',
  'secrets',
  'services',
  'pods',
  'count/configmaps',
  'count/deployments.apps',
  'requests.cpu',
  'limits.memory',
  'services.nodeports',
  'persistentvolumeclaims',
  'requests.storage',
];

export function addLimits(draft: Draft): void {
  if (draft.random.chance(0.5)) addQuota(draft);
  else addLimitRange(draft);
  const { random } = draft;
  for (let count = 3 + random.below(8); count > 0; count--) {
    const kind = kindNamed(
      random.pick(['v1/pods', 'v1/pods', 'v1/configmaps', 'v1/services', 'v1/persistentvolumeclaims', 'apps/v1/deployments', 'v1/secrets']),
    );
    const name = random.pick([SCENARIO, `${SCENARIO}-b`, `${SCENARIO}-c`]);
    draft.choose([
      [5, () => addCreate(draft, kind, name, random.chance(0.6))],
      [1, () => addUpdate(draft, kind, name)],
      [1, () => addPatch(draft, kind, name)],
      [1, () => addDelete(draft, `${kind.collection}/${name}`)],
      [1, () => draft.get(`${IN_NAMESPACE}/resourcequotas/${SCENARIO}`)],
      [1, () => draft.get(`${IN_NAMESPACE}/limitranges/${SCENARIO}`)],
    ]);
  }
}

/** A write that is refused once the limit is known to admission. */
const refused = (path: string, body: Json): Wait => ({ request: { method: 'POST', path: `${IN_NAMESPACE}/${path}?dryRun=All`, body }, status: 403 });

function addQuota(draft: Draft): void {
  const { random } = draft;
  const hard: JsonObject = Object.fromEntries(COUNTED.filter(() => random.chance(0.3)).map((name) => [name, random.pick(['0', '1', '2', '500m', '1Gi'])]));
  const scopes = random.chance(0.2) ? { scopes: [random.pick(['BestEffort', 'NotTerminating', 'Terminating', 'NotBestEffort', 'Nothing'])] } : {};
  draft.post(`${IN_NAMESPACE}/resourcequotas`, { metadata: { name: SCENARIO }, spec: { hard, ...scopes } });
  const used = Object.fromEntries(Object.keys(hard).map((name) => [name, random.pick(['0', '0', '1'])]));
  draft.add({
    method: 'PATCH',
    path: `${IN_NAMESPACE}/resourcequotas/${SCENARIO}/status`,
    body: { status: { hard, used } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  // Leases are counted by a quota of their own, which is there last: when it refuses, the first one is known too.
  const path = `/apis/coordination.k8s.io/v1/namespaces/${SCENARIO}/leases?dryRun=All`;
  draft.post(`${IN_NAMESPACE}/resourcequotas`, { metadata: { name: `${SCENARIO}-last` }, spec: { hard: { 'count/leases.coordination.k8s.io': '0' } } });
  draft.add(
    {
      method: 'PATCH',
      path: `${IN_NAMESPACE}/resourcequotas/${SCENARIO}-last/status`,
      body: { status: { hard: { 'count/leases.coordination.k8s.io': '0' }, used: { 'count/leases.coordination.k8s.io': '0' } } },
      headers: { 'content-type': 'application/merge-patch+json' },
    },
    { wait: { request: { method: 'POST', path, body: { metadata: { name: 'probe' } } }, status: 403 } },
  );
}

function addLimitRange(draft: Draft): void {
  const { random } = draft;
  const amounts = (): JsonObject =>
    Object.fromEntries(['cpu', 'memory'].filter(() => random.chance(0.7)).map((name) => [name, random.pick(['100m', '1', '2', '64Mi', '1Gi'])]));
  const limits = ['Container', 'Pod']
    .filter(() => random.chance(0.7))
    .map((type) => ({
      type,
      ...(random.chance(0.5) && { max: amounts() }),
      ...(random.chance(0.4) && { min: amounts() }),
      ...(type === 'Container' && random.chance(0.5) && { default: amounts() }),
      ...(type === 'Container' && random.chance(0.5) && { defaultRequest: amounts() }),
      ...(random.chance(0.2) && { maxLimitRequestRatio: { cpu: '2' } }),
    }));
  const range = { metadata: { name: SCENARIO }, spec: { limits } };
  draft.add({ method: 'POST', path: `${IN_NAMESPACE}/limitranges`, body: range as unknown as Json });
  // A second one refuses every claim.
  const claim = { metadata: { name: 'probe' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Ti' } } } };
  const last = { metadata: { name: `${SCENARIO}-last` }, spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '1Ti' } }] } };
  draft.add({ method: 'POST', path: `${IN_NAMESPACE}/limitranges`, body: last }, { wait: refused('persistentvolumeclaims', claim) });
}
