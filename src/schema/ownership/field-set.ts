import { isJsonObject } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import { type PathElement, compareElements, parseElement, sortedElements } from './path-element.ts';

/**
 * A set of fields, in the form in which FieldsV1 writes it, so that what is stored need not be parsed and what is computed need not be written:
 *
 *     { 'f:spec': { 'f:replicas': {}, 'f:strategy': { '.': {}, 'f:type': {} } } }     spec.replicas, spec.strategy, spec.strategy.type
 *
 * Every key leads to what lies below it. Below an element, nothing at all (`{}`) or the key `.` says that the element itself is a member; the root is no
 * member, and nothing at the root is the empty set. Sets are never changed once they are made: they share their branches.
 * The operations are those of structured-merge-diff's fieldpath.Set.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

/** A set that is being made. */
export type FieldSetDraft = Record<PathElement, FieldSet>;

const SELF = '.';

/** Below a member without members below it. */
export const LEAF: FieldSet = Object.freeze({});
export const EMPTY: FieldSet = Object.freeze({});

export function isEmpty(set: FieldSet): boolean {
  // A loop lists all elements before it comes to the first.
  if (SELF in set) return false;
  for (const _ in set) return false;
  return true;
}

const isMember = (node: FieldSet): boolean => node === LEAF || isEmpty(node) || SELF in node;

/** Begins what lies below an element; a seal ends it. */
export const draft = (isSelfMember: boolean): FieldSetDraft => (isSelfMember ? { [SELF]: LEAF } : {});

/** Undefined where neither the element nor anything below it is a member. */
export function sealBranch(node: FieldSetDraft): FieldSet | undefined {
  let isSelf = false;
  for (const element in node) {
    if (element !== SELF) return node;
    isSelf = true;
  }
  return isSelf ? LEAF : undefined;
}

/** Of something that is there although nothing may lie below it. */
export const sealMember = (node: FieldSetDraft): FieldSet => sealBranch(node) ?? LEAF;

/** A member, whatever lies below it. */
export const withSelf = (node: FieldSet | undefined): FieldSet => (node === undefined || isMember(node) ? (node ?? LEAF) : { [SELF]: LEAF, ...node });

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  return isEmpty(a) ? b : joined(a, b);
}

function joined(a: FieldSet, b: FieldSet): FieldSet {
  const out: FieldSetDraft = { ...a };
  for (const element in b) {
    const [left, right] = [out[element], b[element]!];
    out[element] = left === undefined ? right : unionBelow(left, right);
  }
  return out;
}

function unionBelow(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isEmpty(a)) return withSelf(b);
  return isEmpty(b) ? withSelf(a) : joined(a, b);
}

/** How the branches that two sets have in common become one; undefined drops it. */
type BranchRule = (a: FieldSet, b: FieldSet) => FieldSet | undefined;

/** `a` with `rule` where `b` has a branch too. */
function changedBy(a: FieldSet, b: FieldSet, rule: BranchRule): FieldSet {
  const out: FieldSetDraft = {};
  for (const element in a) {
    if (element === SELF) continue;
    const [mine, other] = [a[element]!, b[element]];
    const rest = other === undefined ? mine : rule(mine, other);
    if (rest !== undefined) out[element] = rest;
  }
  return out;
}

function nodeOf(isSelfMember: boolean, children: FieldSet): FieldSet | undefined {
  if (isEmpty(children)) return isSelfMember ? LEAF : undefined;
  return isSelfMember ? { [SELF]: LEAF, ...children } : children;
}

/** What is a member of `a` and not of `b`. Members below a member of `b` stay. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet => (isEmpty(b) ? a : changedBy(a, b, differenceBelow));
const differenceBelow: BranchRule = (a, b) => nodeOf(isMember(a) && !isMember(b), changedBy(a, b, differenceBelow));

/** The same, and what lies below a member of `b` goes with it. */
export const recursiveDifference = (a: FieldSet, b: FieldSet): FieldSet => changedBy(a, b, recursiveDifferenceBelow);
const recursiveDifferenceBelow: BranchRule = (a, b) => (isMember(b) ? undefined : nodeOf(isMember(a), changedBy(a, b, recursiveDifferenceBelow)));

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const out: FieldSetDraft = {};
  for (const element in a) {
    const other = b[element];
    if (element === SELF || other === undefined) continue;
    const common = nodeOf(isMember(a[element]!) && isMember(other), intersection(a[element]!, other));
    if (common !== undefined) out[element] = common;
  }
  return out;
}

export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  const node = nodeAt(set, path);
  return path.length > 0 && node !== undefined && isMember(node);
}

/** What lies below an element, whether it is a member or not. */
function nodeAt(set: FieldSet, path: readonly PathElement[]): FieldSet | undefined {
  let node: FieldSet | undefined = set;
  for (const element of path) node = node?.[element];
  return node;
}

/** Whether the element itself is a member, and what lies below it: undefined for nothing. */
export function branch(set: FieldSet, element: PathElement): { isMember: boolean; below: FieldSet | undefined } {
  const node = set[element];
  if (node === undefined) return { isMember: false, below: undefined };
  const isSelf = isMember(node);
  return { isMember: isSelf, below: hasChildren(node) ? node : undefined };
}

const hasChildren = (node: FieldSet): boolean => {
  for (const element in node) if (element !== SELF) return true;
  return false;
};

/** Members that have no members below them. */
export function leavesOf(set: FieldSet): FieldSet {
  const out: FieldSetDraft = {};
  for (const element in set) if (element !== SELF) out[element] = hasChildren(set[element]!) ? leavesOf(set[element]!) : LEAF;
  return out;
}

export const setOf = (...paths: readonly (readonly PathElement[])[]): FieldSet => paths.reduce<FieldSet>((set, path) => union(set, pathSet(path)), EMPTY);

const pathSet = (path: readonly PathElement[]): FieldSet => path.toReversed().reduce<FieldSet>((inner, element) => ({ [element]: inner }), LEAF);

/** Every member's path: on each level its own members first, then what lies below (Set.Iterate). */
export function* pathsOf(set: FieldSet, above: readonly PathElement[] = []): Iterable<readonly PathElement[]> {
  const elements = elementsInOrder(set);
  for (const element of elements) if (isMember(set[element]!)) yield [...above, element];
  for (const element of elements) yield* pathsOf(set[element]!, [...above, element]);
}

const elementsInOrder = (set: FieldSet): PathElement[] => {
  const elements = Object.keys(set).filter((element) => element !== SELF);
  return isInOrder(elements) ? elements : sortedElements(elements);
};

function isInOrder(elements: readonly PathElement[]): boolean {
  for (let i = 1; i < elements.length; i++) if (compareElements(elements[i - 1]!, elements[i]!) >= 0) return false;
  return true;
}

/** With its elements in the order in which upstream writes them; the set itself where it has it, as most have that come from one walk of an object. */
export function inOrder(set: FieldSet): FieldSet {
  if (orderedSets.has(set)) return set;
  const ordered = orderedFrom(set);
  orderedSets.add(ordered);
  return ordered;
}

/** Sets that are shared by many objects are looked through once. */
const orderedSets = new WeakSet<FieldSet>();

/**
 * Every level is looked at once, however deep the one lies that is out of order: a level may have thousands of elements, of which `for … in` takes several
 * times as long as `Object.keys`.
 */
function orderedFrom(set: FieldSet): FieldSet {
  let changed: FieldSetDraft | undefined;
  const elements = Object.keys(set);
  for (const element of elements) {
    const below = set[element]!;
    const ordered = below === LEAF ? below : orderedFrom(below);
    if (ordered !== below) (changed ??= {})[element] = ordered;
  }
  const isSelfMember = SELF in set;
  const isSelfFirst = !isSelfMember || elements[0] === SELF;
  const others = isSelfMember ? elements.filter((element) => element !== SELF) : elements;
  const isOrdered = isInOrder(others);
  if (isOrdered && isSelfFirst) return changed === undefined ? set : { ...set, ...changed };
  const out: FieldSetDraft = draft(isSelfMember);
  for (const element of isOrdered ? others : sortedElements(others)) out[element] = changed?.[element] ?? set[element]!;
  return out;
}

/** What a client sent as FieldsV1. Throws ElementError, or TypeError where it is not made of objects. */
export function parseFieldSet(fields: Json | undefined): FieldSet {
  if (fields === undefined || fields === null) return EMPTY;
  return parsedBelow(fields) ?? EMPTY;
}

function parsedBelow(node: Json): FieldSet | undefined {
  if (node === null) return undefined;
  if (!isJsonObject(node)) throw new TypeError('ReadMapCB: expect { or n');
  const out: FieldSetDraft = draft(Object.hasOwn(node, SELF));
  for (const key of Object.keys(node)) {
    const element = key === SELF ? undefined : parseElement(key);
    if (element !== undefined) out[element] = parsedBelow(node[key] ?? null) ?? LEAF;
  }
  return sealBranch(out);
}
