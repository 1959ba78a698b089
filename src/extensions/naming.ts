import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '../apis/facts/types/apiextensions-v1.ts';
import { quote } from '../util/go-quote.ts';
import { equalJson } from '../encoding/json-equal.ts';
import type { WorkQueue } from '../controllers/work-queue.ts';
import { aggregateMessage } from '../api/aggregate-message.ts';
import { type ConditionOutcome, establishedOutcome } from './establishing.ts';
import {
  type DefinitionClient,
  type DefinitionControllerOptions,
  findDefinitionCondition,
  followDefinitions,
  isSameCondition,
  setDefinitionCondition,
  updateStatus,
} from './definition-conditions.ts';

interface NamingResult {
  names: CustomResourceDefinitionNames;
  accepted: ConditionOutcome;
}

const NO_CONFLICTS: ConditionOutcome = { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' };
const NOT_ACCEPTED: ConditionOutcome = { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };

/**
 * Gives each definition the names it asks for, unless another of its group has them, and tells so in `status.acceptedNames` and the condition
 * NamesAccepted (apiextensions-apiserver/pkg/controller/status).
 */
export async function keepNamesAccepted(definitions: DefinitionClient, options: DefinitionControllerOptions): Promise<void> {
  const { informer } = definitions;
  await informer.synced;
  const accepted = new AcceptedNames();
  for (const definition of informer.list('')) accepted.set(definition.metadata.name!, definition);
  return followDefinitions(
    definitions,
    {
      name: 'crd_naming_condition_controller',
      async sync(name, queue) {
        const current = note(name, queue);
        if (!current || equalJson(current.spec.names, current.status.acceptedNames)) return;
        await syncNames(definitions, name, accepted, options);
        note(name, queue);
      },
    },
    options,
  );

  /** Takes in the definition as it is now. What it no longer has may be what others wait for. */
  function note(name: string, queue: WorkQueue): CustomResourceDefinition | undefined {
    const had = accepted.of(name);
    const current = informer.get('', name);
    accepted.set(name, current);
    if (had !== undefined && !equalJson(current?.status.acceptedNames, had.names))
      for (const other of accepted.waitingIn(had.group)) if (other !== name) queue.add(other);
    return current;
  }
}

const syncNames = (definitions: DefinitionClient, name: string, all: AcceptedNames, { now }: DefinitionControllerOptions): Promise<void> =>
  updateStatus(definitions, name, (definition) => {
    const { names, accepted } = decideNames(definition, all);
    if (equalJson(definition.status.acceptedNames, names) && isSameCondition(findDefinitionCondition(definition, 'NamesAccepted'), accepted)) return false;
    definition.status.acceptedNames = names;
    setDefinitionCondition(definition, { type: 'NamesAccepted', ...accepted }, now());
    setDefinitionCondition(definition, { type: 'Established', ...establishedAfter(definition, accepted) }, now());
    return true;
  });

class GroupNames {
  /** By definition. */
  readonly had = new Map<string, CustomResourceDefinitionNames>();
  /** Definitions that have not all that they ask for. */
  readonly waiting = new Set<string>();
  readonly #uses = { resources: new Map<string, number>(), kinds: new Map<string, number>() };

  isTaken(what: 'resources' | 'kinds', name: string): boolean {
    return this.#uses[what].has(name);
  }

  count({ plural, singular = '', shortNames = [], kind, listKind = '' }: CustomResourceDefinitionNames, by: 1 | -1): void {
    for (const name of [plural, singular, ...shortNames]) addUse(this.#uses.resources, name, by);
    for (const name of [kind, listKind]) addUse(this.#uses.kinds, name, by);
  }
}

function addUse(uses: Map<string, number>, name: string, by: 1 | -1): void {
  const count = (uses.get(name) ?? 0) + by;
  if (count === 0) uses.delete(name);
  else uses.set(name, count);
}

/** The names that definitions have, by group: so that one more definition does not cost a look at all the others. */
export class AcceptedNames {
  readonly #groups = new Map<string, GroupNames>();
  readonly #groupOf = new Map<string, string>();

  /** `definition` as it is now; undefined once it is gone. */
  set(name: string, definition: CustomResourceDefinition | undefined, names = definition?.status.acceptedNames): void {
    this.#forget(name);
    if (definition === undefined || names === undefined) return;
    const { group } = definition.spec;
    const inGroup = this.#groups.get(group) ?? new GroupNames();
    this.#groups.set(group, inGroup);
    this.#groupOf.set(name, group);
    inGroup.had.set(name, names);
    inGroup.count(names, 1);
    if (!equalJson(definition.spec.names, names)) inGroup.waiting.add(name);
  }

  /** What the definition has, and the group in which it has it. */
  of(name: string): { group: string; names: CustomResourceDefinitionNames } | undefined {
    const group = this.#groupOf.get(name);
    return group === undefined ? undefined : { group, names: this.#groups.get(group)!.had.get(name)! };
  }

  isTaken(group: string, what: 'resources' | 'kinds', name: string): boolean {
    return this.#groups.get(group)?.isTaken(what, name) ?? false;
  }

  /** Definitions of the group that have not all the names that they ask for. */
  waitingIn(group: string): string[] {
    return [...(this.#groups.get(group)?.waiting ?? [])];
  }

  #forget(name: string): void {
    const group = this.#groupOf.get(name);
    if (group === undefined) return;
    const inGroup = this.#groups.get(group)!;
    inGroup.count(inGroup.had.get(name)!, -1);
    inGroup.had.delete(name);
    inGroup.waiting.delete(name);
    this.#groupOf.delete(name);
    if (inGroup.had.size === 0) this.#groups.delete(group);
  }
}

/** Established stays true once it was. What is accepted here is served already; only a conversion that cannot work keeps it from being established. */
function establishedAfter(definition: CustomResourceDefinition, accepted: ConditionOutcome): ConditionOutcome {
  const old = findDefinitionCondition(definition, 'Established');
  if (old?.status === 'True') return { status: 'True', reason: old.reason ?? '', message: old.message ?? '' };
  if (accepted.status === 'True') return establishedOutcome(definition);
  return old ? { status: old.status as 'False', reason: old.reason ?? '', message: old.message ?? '' } : NOT_ACCEPTED;
}

/** Whether a definition that nobody has looked at yet will get all the names that it asks for. */
export const areNamesFree = (definition: CustomResourceDefinition, all: AcceptedNames): boolean => decideNames(definition, all).accepted === NO_CONFLICTS;

/** The names that the definition gets of those it asks for, and what became of the rest. The last conflict is the one told. */
function decideNames({ spec, status }: CustomResourceDefinition, all: AcceptedNames): NamingResult {
  const isTaken = (what: 'resources' | 'kinds', name: string): boolean => all.isTaken(spec.group, what, name);
  const asked = spec.names;
  const had = status.acceptedNames;
  const names: CustomResourceDefinitionNames = { ...had };
  let accepted = NO_CONFLICTS;
  const decide = <K extends 'plural' | 'singular' | 'kind' | 'listKind'>(field: K, what: 'resources' | 'kinds', reason: string): void => {
    const wanted = asked[field] ?? '';
    if (wanted !== (had[field] ?? '') && isTaken(what, wanted)) accepted = { status: 'False', reason, message: inUse(wanted) };
    else names[field] = wanted;
  };
  decide('plural', 'resources', 'PluralConflict');
  decide('singular', 'resources', 'SingularConflict');
  const former = new Set(had.shortNames);
  const conflicts = (asked.shortNames ?? []).filter((name) => !former.has(name) && isTaken('resources', name));
  if (conflicts.length > 0) accepted = { status: 'False', reason: 'ShortNamesConflict', message: aggregateMessage(conflicts.map(inUse)) };
  else assignList(names, 'shortNames', asked.shortNames);
  decide('kind', 'kinds', 'KindConflict');
  decide('listKind', 'kinds', 'ListKindConflict');
  assignList(names, 'categories', asked.categories);
  return { names, accepted };
}

const inUse = (name: string): string => `${quote(name)} is already in use`;

function assignList(names: CustomResourceDefinitionNames, field: 'shortNames' | 'categories', value: string[] | undefined): void {
  if (value === undefined) delete names[field];
  else names[field] = [...value];
}
