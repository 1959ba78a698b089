import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '../apis/facts/types/apiextensions-v1.ts';
import { quote } from '../util/field-errors.ts';
import { equalJson } from '../util/json-equal.ts';
import { type Outcome, establishedOutcome } from './establishing.ts';
import {
  type DefinitionClient,
  type DefinitionControllerOptions,
  findCondition,
  followDefinitions,
  isSameCondition,
  setCondition,
  updateStatus,
} from './definition-conditions.ts';

interface NamingResult {
  names: CustomResourceDefinitionNames;
  accepted: Outcome;
}

const NO_CONFLICTS: Outcome = { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' };
const NOT_ACCEPTED: Outcome = { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };

/**
 * Gives each definition the names it asks for, unless another of its group has them, and tells so in `status.acceptedNames` and the condition
 * NamesAccepted (apiextensions-apiserver/pkg/controller/status).
 */
export async function keepNamesAccepted(definitions: DefinitionClient, options: DefinitionControllerOptions): Promise<void> {
  await definitions.informer.synced;
  const accepted = new AcceptedNames();
  for (const definition of definitions.informer.list('')) accepted.set(definition.metadata.name!, definition);
  return followDefinitions(
    definitions,
    async (name, old) => {
      const current = definitions.informer.get('', name);
      accepted.set(name, current);
      if (current) await syncNames(definitions, name, accepted, options);
      const group = (definitions.informer.get('', name) ?? old)?.spec.group;
      const isFreed = old !== undefined && !equalJson(definitions.informer.get('', name)?.status.acceptedNames, old.status.acceptedNames);
      // What it had may be what others wait for.
      if (isFreed)
        for (const other of definitions.informer.list(''))
          if (other.spec.group === group && other.metadata.name !== name) await syncNames(definitions, other.metadata.name!, accepted, options);
    },
    options,
  );
}

async function syncNames(definitions: DefinitionClient, name: string, all: AcceptedNames, { now }: DefinitionControllerOptions): Promise<void> {
  const current = definitions.informer.get('', name);
  if (!current || equalJson(current.spec.names, current.status.acceptedNames)) return;
  await updateStatus(definitions, name, (definition) => {
    const { names, accepted } = decideNames(definition, all);
    const condition = { type: 'NamesAccepted', lastTransitionTime: null, ...accepted };
    if (equalJson(definition.status.acceptedNames, names) && isSameCondition(findCondition(definition, 'NamesAccepted'), condition)) return false;
    definition.status.acceptedNames = names;
    setCondition(definition, condition, now());
    setCondition(definition, { type: 'Established', ...establishedAfter(definition, accepted) }, now());
    return true;
  });
  all.set(name, definitions.informer.get('', name));
}

/** The names that definitions have, by group: so that one more definition does not cost a look at all the others. */
export class AcceptedNames {
  readonly #groups = new Map<string, Map<string, CustomResourceDefinitionNames>>();
  readonly #groupOf = new Map<string, string>();

  /** `definition` as it is now; undefined once it is gone. */
  set(name: string, definition: CustomResourceDefinition | undefined, names = definition?.status.acceptedNames): void {
    const former = this.#groupOf.get(name);
    if (former !== undefined) this.#groups.get(former)?.delete(name);
    this.#groupOf.delete(name);
    if (definition === undefined || names === undefined) return;
    const { group } = definition.spec;
    this.#groupOf.set(name, group);
    const inGroup = this.#groups.get(group) ?? new Map<string, CustomResourceDefinitionNames>();
    this.#groups.set(group, inGroup.set(name, names));
  }

  inGroup(group: string): Iterable<[string, CustomResourceDefinitionNames]> {
    return this.#groups.get(group) ?? [];
  }
}

/** Established stays true once it was. What is accepted here is served already; only a conversion that cannot work keeps it from being established. */
function establishedAfter(definition: CustomResourceDefinition, accepted: Outcome): Outcome {
  const old = findCondition(definition, 'Established');
  if (old?.status === 'True') return { status: 'True', reason: old.reason ?? '', message: old.message ?? '' };
  if (accepted.status === 'True') return establishedOutcome(definition);
  return old ? { status: old.status as 'False', reason: old.reason ?? '', message: old.message ?? '' } : NOT_ACCEPTED;
}

/** Whether a definition that nobody has judged yet will get all the names that it asks for. */
export const areNamesFree = (definition: CustomResourceDefinition, all: AcceptedNames): boolean => decideNames(definition, all).accepted === NO_CONFLICTS;

/** The names that the definition gets of those it asks for, and what became of the rest. The last conflict is the one told. */
function decideNames({ spec, status }: CustomResourceDefinition, all: AcceptedNames): NamingResult {
  const taken = takenNames(spec.group, all);
  const asked = spec.names;
  const had = status.acceptedNames;
  const names: CustomResourceDefinitionNames = { ...had };
  let accepted = NO_CONFLICTS;
  const decide = <K extends 'plural' | 'singular' | 'kind' | 'listKind'>(field: K, used: ReadonlySet<string>, reason: string): void => {
    const wanted = asked[field] ?? '';
    if (wanted !== (had[field] ?? '') && used.has(wanted)) accepted = { status: 'False', reason, message: inUse(wanted) };
    else names[field] = wanted;
  };
  decide('plural', taken.resources, 'PluralConflict');
  decide('singular', taken.resources, 'SingularConflict');
  const conflicts = (asked.shortNames ?? []).filter((name) => !(had.shortNames ?? []).includes(name) && taken.resources.has(name));
  if (conflicts.length > 0) accepted = { status: 'False', reason: 'ShortNamesConflict', message: aggregate(conflicts.map(inUse)) };
  else assignList(names, 'shortNames', asked.shortNames);
  decide('kind', taken.kinds, 'KindConflict');
  decide('listKind', taken.kinds, 'ListKindConflict');
  assignList(names, 'categories', asked.categories);
  return { names, accepted };
}

const inUse = (name: string): string => `${quote(name)} is already in use`;

const aggregate = (messages: readonly string[]): string => (messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`);

function assignList(names: CustomResourceDefinitionNames, field: 'shortNames' | 'categories', value: string[] | undefined): void {
  if (value === undefined) delete names[field];
  else names[field] = [...value];
}

function takenNames(group: string, all: AcceptedNames): { resources: ReadonlySet<string>; kinds: ReadonlySet<string> } {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const [, { plural, singular = '', shortNames = [], kind, listKind = '' }] of all.inGroup(group)) {
    for (const name of [plural, singular, ...shortNames]) resources.add(name);
    for (const name of [kind, listKind]) kinds.add(name);
  }
  return { resources, kinds };
}
