import { isJsonObject } from '../../encoding/json.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { sortedInSteps } from '../../util/sliced-sort.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import { compareText } from './parameters.ts';

/* Documents of several servers become one (kube-openapi/pkg/aggregator). Nothing that is given is changed; what comes back shares its parts. */

const DEFINITION = '#/definitions/';
const PARAMETER = '#/parameters/';
const KINDS = 'x-kubernetes-group-version-kind';

const part = (document: JsonObject, name: string): JsonObject => {
  const value = document[name];
  return isJsonObject(value) ? value : {};
};

/** The paths that begin with a prefix or are it, with all definitions but those that only other paths use. */
export function* filterByPaths(document: JsonObject, prefixes: readonly string[]): SlicedWork<JsonObject> {
  const paths = filterKeys(part(document, 'paths'), startsWithAny(prefixes));
  const usedBefore = yield* usedDefinitions(document);
  const filtered = { ...document, paths };
  const used = yield* usedDefinitions(filtered);
  return { ...filtered, definitions: filterKeys(part(document, 'definitions'), (name) => used.has(name) || !usedBefore.has(name)) };
}

/** Adds the others to the first, in order. Of one path the first document's stays; a definition or parameter that means something else is renamed. */
export function* mergeDocuments(first: JsonObject, others: readonly JsonObject[]): SlicedWork<JsonObject> {
  let merged = first;
  for (const other of others) merged = yield* mergeTwo(merged, other);
  if (merged === first) return first;
  const paths = yield* sorted(part(merged, 'paths'));
  const definitions = yield* sorted(part(merged, 'definitions'));
  return { ...merged, paths, definitions, parameters: yield* sorted(part(merged, 'parameters')) };
}

function* mergeTwo(first: JsonObject, other: JsonObject): SlicedWork<JsonObject> {
  const known = part(first, 'paths');
  const offered = Object.keys(part(other, 'paths'));
  const added = offered.filter((path) => !Object.hasOwn(known, path));
  if (added.length === 0) return first;
  const wanted = added.length === offered.length ? other : yield* filterByPaths(other, added);
  const definitionNames = yield* newNames(part(first, 'definitions'), part(wanted, 'definitions'), isSameDefinition);
  const parameterNames = yield* newNames(part(first, 'parameters'), part(wanted, 'parameters'), equalJson);
  const renamed = yield* rename(wanted, definitionNames, parameterNames);
  yield;
  return {
    ...first,
    paths: { ...known, ...filterKeys(part(renamed, 'paths'), (path) => !Object.hasOwn(known, path)) },
    definitions: mergeDefinitions(part(first, 'definitions'), part(renamed, 'definitions')),
    parameters: { ...part(renamed, 'parameters'), ...part(first, 'parameters') },
  };
}

/** For each that is another under the same name: the next free name, or the one under which the same is known already. */
function* newNames(known: JsonObject, offered: JsonObject, isSame: (a: Json, b: Json) => boolean): SlicedWork<Map<string, string>> {
  const names = new Map<string, string>();
  const taken = new Set(Object.keys(known));
  for (const [name, value] of Object.entries(offered)) {
    yield;
    if (!Object.hasOwn(known, name) || isSame(known[name]!, value!)) continue;
    for (let count = 2; ; count++) {
      const candidate = `${name}_v${count}`;
      const isKnown = Object.hasOwn(known, candidate);
      if (isKnown ? !isSame(known[candidate]!, value!) : taken.has(candidate) || Object.hasOwn(offered, candidate)) continue;
      names.set(name, candidate);
      taken.add(candidate);
      break;
    }
  }
  return names;
}

const isSameDefinition = (a: Json, b: Json): boolean => equalJson(withoutKinds(a), withoutKinds(b));

function withoutKinds(definition: Json): Json {
  if (!isJsonObject(definition) || !Object.hasOwn(definition, KINDS)) return definition;
  const { [KINDS]: _kinds, ...rest } = definition;
  return rest;
}

function* rename(document: JsonObject, definitions: ReadonlyMap<string, string>, parameters: ReadonlyMap<string, string>): SlicedWork<JsonObject> {
  if (definitions.size === 0 && parameters.size === 0) return document;
  const references = new Map([
    ...[...definitions].map(([from, to]) => [DEFINITION + from, DEFINITION + to] as const),
    ...[...parameters].map(([from, to]) => [PARAMETER + from, PARAMETER + to] as const),
  ]);
  const renamed: JsonObject = { ...document };
  for (const [name, names] of [['paths'], ['definitions', definitions], ['parameters', parameters]] as const) {
    const entries: [string, Json][] = [];
    for (const [key, value] of Object.entries(part(document, name))) {
      entries.push([names?.get(key) ?? key, renameReferences(value!, references)]);
      yield;
    }
    renamed[name] = Object.fromEntries(entries);
  }
  return renamed;
}

function renameReferences(value: Json, names: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return value.map((item) => renameReferences(item, names));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' ? (names.get(inner) ?? inner) : renameReferences(inner!, names),
    ]),
  );
}

/** Those of one name mean the same by now; each may belong to kinds of its own. */
function mergeDefinitions(known: JsonObject, added: JsonObject): JsonObject {
  const merged = new Map(Object.entries(known));
  for (const [name, definition] of Object.entries(added)) {
    const old = merged.get(name);
    merged.set(name, old === undefined ? definition : withKinds(old as JsonObject, definition as JsonObject));
  }
  return Object.fromEntries(merged);
}

function withKinds(old: JsonObject, added: JsonObject): JsonObject {
  const kinds = (definition: JsonObject): JsonObject[] => (Array.isArray(definition[KINDS]) ? definition[KINDS].filter(isJsonObject) : []);
  const all = new Map<string, JsonObject>();
  for (const kind of [...kinds(old), ...kinds(added)]) {
    const key = `${String(kind['group'])}/${String(kind['version'])}.${String(kind['kind'])}`;
    if (!all.has(key)) all.set(key, kind);
  }
  if (all.size === kinds(old).length) return old;
  return { ...old, [KINDS]: [...all].toSorted(([a], [b]) => compareText(a, b)).map(([, kind]) => kind) };
}

const LOOKED_AT_ONCE = 1_000;

/** Definitions that paths lead to, over others and over shared parameters. */
function* usedDefinitions(document: JsonObject): SlicedWork<Set<string>> {
  const definitions = part(document, 'definitions');
  const parameters = part(document, 'parameters');
  const used = new Set<string>();
  const seenParameters = new Set<string>();
  const waiting: (Json | undefined)[] = [part(document, 'paths')];
  const follow = (reference: string): void => {
    if (reference.startsWith(PARAMETER)) {
      const name = reference.slice(PARAMETER.length);
      if (!seenParameters.has(name) && Object.hasOwn(parameters, name)) waiting.push(parameters[name]);
      seenParameters.add(name);
    } else if (reference.startsWith(DEFINITION)) {
      const name = reference.slice(DEFINITION.length);
      if (!used.has(name) && Object.hasOwn(definitions, name)) waiting.push(definitions[name]);
      used.add(name);
    }
  };
  let looked = 0;
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (++looked % LOOKED_AT_ONCE === 0) yield;
    if (Array.isArray(value)) for (const item of value) waiting.push(item);
    else if (isJsonObject(value)) {
      for (const [key, inner] of Object.entries(value)) {
        if (key === '$ref' && typeof inner === 'string') follow(inner);
        else if (typeof inner === 'object' && inner !== null) waiting.push(inner);
      }
    }
  }
  return used;
}

const filterKeys = (object: JsonObject, isWanted: (key: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => isWanted(key)));

function* sorted(object: JsonObject): SlicedWork<JsonObject> {
  return Object.fromEntries(yield* sortedInSteps(Object.entries(object), ([a], [b]) => compareText(a, b)));
}

/** Whether a text starts with one of so many prefixes that it can not be held against each. */
function startsWithAny(prefixes: readonly string[]): (text: string) => boolean {
  const least: string[] = [];
  for (const prefix of prefixes.toSorted()) if (least.length === 0 || !prefix.startsWith(least.at(-1)!)) least.push(prefix);
  // None of them begins with another: what lies between one and a text that begins with it would begin with it too.
  return (text) => {
    let from = 0;
    let to = least.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (least[middle]! <= text) from = middle + 1;
      else to = middle;
    }
    return from > 0 && text.startsWith(least[from - 1]!);
  };
}
