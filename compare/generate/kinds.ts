import { resourceFacts, type ResourceFacts } from '../../src/apis/facts/resources.ts';
import { isJsonObject } from '../../src/encoding/json.ts';
import type { Json, JsonObject } from '../../src/encoding/json-types.ts';
import type { Random } from '../../src/util/test-random.ts';
import { type ExampleKind, copyAs, exampleKinds } from '../../test/kinds/examples.ts';
import { mutate } from '../../test/kinds/mutation.ts';
import { vary } from '../../test/kinds/variation.ts';
import { SCENARIO } from '../placeholders.ts';
import type { Edit } from '../step.ts';
import { metadataOf } from './draft.ts';

export interface Kind extends ExampleKind {
  facts: ResourceFacts;
  /** The collection, in the scenario's namespace if it has one. */
  collection: string;
}

/** Names are addresses, or the objects act on every other scenario's requests whatever is written in them: nothing of these is kept. */
const DRY_RUN_ONLY = /\/(ipaddresses|servicecidrs|apiservices|customresourcedefinitions|flowschemas|prioritylevelconfigurations|clusterrolebindings)$/;

let all: readonly Kind[] | undefined;

/** Every built-in kind that is stored and on by default. */
export const kinds = (): readonly Kind[] =>
  (all ??= exampleKinds()
    .filter(({ examples }) => examples.length > 0)
    .map((kind) => ({ ...kind, facts: resourceFacts(kind.name), collection: kind.path.replace(/namespaces\/[^/]+\//, `namespaces/${SCENARIO}/`) })));

export const kindNamed = (name: string): Kind => kinds().find((kind) => kind.name === name)!;

export const isDryRunOnly = ({ name }: Kind): boolean => DRY_RUN_ONLY.test(name);

/** An object that the reference has let in once, under another name. */
export const validObject = (kind: Kind, random: Random, name: string): JsonObject => makeSafe(kind, copyAs(kind, random.pick(kind.examples), name, SCENARIO));

/** One that fits the schema: whether the kind's rules let it in is for the servers to say. */
export function variedObject(kind: Kind, random: Random, name: string): JsonObject {
  const object = validObject(kind, random, name);
  for (let changes = 1 + random.below(3); changes > 0; changes--) vary(kind.schema, object, random);
  return makeSafe(kind, object);
}

/** One with places that do not fit; its name is kept, so that it meets the rules behind the name's. */
export function brokenObject(kind: Kind, random: Random, name: string): JsonObject {
  const object = random.chance(0.5) ? validObject(kind, random, name) : variedObject(kind, random, name);
  mutate(object, random);
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : undefined;
  // Names of cluster-scoped objects stay apart from those of other scenarios.
  const keepsName = random.chance(0.8) || (!kind.namespaced && metadata?.['name'] !== undefined);
  if (metadata && keepsName) Object.assign(metadata, { name, ...(kind.namespaced && { namespace: SCENARIO }) });
  return makeSafe(kind, object);
}

/**
 * Takes from objects that act on requests what would make them act on other scenarios': webhooks and policies see only what carries a label that nothing
 * carries, and no class is a default.
 */
export function makeSafe({ name }: Pick<Kind, 'name'>, object: JsonObject): JsonObject {
  const nothing = (): JsonObject => ({ matchLabels: { 'compare.example.com/nothing': SCENARIO } });
  const spec = isJsonObject(object['spec']) ? object['spec'] : undefined;
  if (name.endsWith('webhookconfigurations') && Array.isArray(object['webhooks'])) {
    for (const webhook of object['webhooks']) if (isJsonObject(webhook)) webhook['objectSelector'] = nothing();
  } else if (name.endsWith('admissionpolicies') && spec && isJsonObject(spec['matchConstraints'])) {
    spec['matchConstraints']['objectSelector'] = nothing();
  } else if (name.endsWith('admissionpolicybindings') && spec) {
    spec['matchResources'] = { ...(isJsonObject(spec['matchResources']) && spec['matchResources']), objectSelector: nothing() };
  } else if (name.endsWith('priorityclasses')) {
    delete object['globalDefault'];
  } else if (/(storage|ingress|volumeattributes)classes$/.test(name) && isJsonObject(object['metadata'])) {
    delete metadataOf(object)['annotations'];
  }
  return object;
}

/** The changes that make one object of the other, at the places where they differ. */
export function editsBetween(from: Json | undefined, to: Json | undefined, at: (string | number)[] = []): Edit[] {
  if (JSON.stringify(from, bigints) === JSON.stringify(to, bigints)) return [];
  if (!isJsonObject(from) || !isJsonObject(to)) return at.length === 0 ? [] : [to === undefined ? { at } : { at, value: to }];
  return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) =>
    editsBetween(Object.hasOwn(from, key) ? from[key] : undefined, Object.hasOwn(to, key) ? to[key] : undefined, [...at, key]),
  );
}

const bigints = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
