import { type ExampleKind, exampleKinds, freshCopy } from '../../kinds/examples.ts';
import type { JsonObject } from '../../../src/encoding/json-types.ts';
import type { Answer, TestObject } from '../../support/api-client.ts';
import { type Attack, type AttackClients, post } from '../attack.ts';
import { type Place, filled, placesOf } from '../filled-objects.ts';
import { prepareKinds } from './filled-kinds.ts';

interface Target {
  kind: ExampleKind;
  place: Place;
}

/** An object of the kind that is there, to be changed; undefined where the kind's example is not let in. */
const present = new Map<string, TestObject | undefined>();

async function prepare(clients: AttackClients, kind: ExampleKind): Promise<void> {
  await prepareKinds(clients);
  if (present.has(kind.name)) return;
  const answer = kind.examples[0] && (await post(clients.admin, kind.path, freshCopy(kind, kind.examples[0])));
  present.set(kind.name, answer?.status === 201 ? answer.json() : undefined);
}

/** The example with the list filled, under the name of the one that is there. */
function changed({ kind, place }: Target, hasVersion = true): JsonObject {
  const object = filled(kind, place);
  const { name = 'none', resourceVersion } = present.get(kind.name)?.metadata ?? {};
  object['metadata'] = { ...(object['metadata'] as JsonObject), name, ...(hasVersion && resourceVersion !== undefined && { resourceVersion }) };
  return object;
}

const nameOf = ({ kind }: Target): string => present.get(kind.name)?.metadata.name ?? 'none';

type Send = (clients: AttackClients, target: Target) => Promise<Answer>;

const patched =
  (type: string, query = ''): Send =>
  ({ admin }, target) =>
    admin.send({
      method: 'PATCH',
      path: `${target.kind.path}/${nameOf(target)}?dryRun=All${query}`,
      headers: { 'content-type': `application/${type}` },
      body: changed(target, false),
    });

/** The ways in which an object that is there is changed. */
const WAYS: Readonly<Record<string, Send>> = {
  replaced: ({ admin }, target) => admin.send({ method: 'PUT', path: `${target.kind.path}/${nameOf(target)}?dryRun=All`, body: changed(target) }),
  applied: patched('apply-patch+yaml', '&fieldManager=m&force=true'),
  patched: patched('strategic-merge-patch+json'),
};

const replaceStatus: Send = ({ admin }, target) =>
  admin.send({ method: 'PUT', path: `${target.kind.path}/${nameOf(target)}/status?dryRun=All`, body: changed(target) });

/** Upstream answers 500, without a reason, to an applied object that breaks its type: a key twice in a list or none at all, a field that is unknown. */
function isTypeRefusal(answer: Answer): boolean {
  if (answer.status !== 500) return false;
  const { reason, message = '' } = answer.json<{ reason?: string; message?: string }>();
  return reason === undefined && message.startsWith('failed to create typed patch object ');
}

const attack = (target: Target, way: string, send: Send): Attack => ({
  name: `90,000 values in ${target.kind.name} ${target.place.join('.')}, ${way}`,
  row: 17,
  prepare: (clients) => prepare(clients, target.kind),
  send: (clients) => send(clients, target),
  ...(way === 'applied' && { isUpstreams: isTypeRefusal }),
});

/** Every list and map of every type once, in the first kind that has it, brought to an object that is there; those of a status to its own path too. */
export const filledUpdateAttacks: readonly Attack[] = (() => {
  const seen = new Set<string>();
  const attacks: Attack[] = [];
  for (const kind of exampleKinds()) {
    for (const [owner, [place]] of placesOf(kind.schema)) {
      if (seen.has(owner)) continue;
      seen.add(owner);
      const target = { kind, place: place! };
      for (const [way, send] of Object.entries(WAYS)) attacks.push(attack(target, way, send));
      if (place![0] === 'status') attacks.push(attack(target, 'as status', replaceStatus));
    }
  }
  return attacks;
})();
