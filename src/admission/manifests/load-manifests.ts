import { type ApiObject, apiVersionOf } from '../../api/api-object.ts';
import { FieldErrors, summarize } from '../../api/field-errors.ts';
import { isJsonObject } from '../../encoding/json.ts';
import type { DuplicateKeys } from '../../encoding/json-parser.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { validateWhole } from '../../registry/create.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { RequestContext } from '../../registry/request-context.ts';
import type { KindSettings, Write } from '../../registry/write.ts';
import { decode } from '../../schema/decode.ts';
import { NOTHING_EMPTY } from '../../schema/empty-paths.ts';
import { quote } from '../../util/go-quote.ts';
import { STATIC_SUFFIX } from '../../apis/admissionregistration/reserved-names.ts';
import { type ManifestDocument, readManifestFiles } from './manifest-files.ts';

/** A kind that may stand in a folder of manifests. */
export interface ManifestKind {
  definition: ResourceDefinition;
  /** What holds for manifests alone; throws an Error in upstream's words. */
  check(object: ApiObject, path: string): void;
}

export interface LoadedManifests {
  /** By kind, in the order of their names. */
  objects: ReadonlyMap<string, readonly ApiObject[]>;
  hash: string;
}

/** How deep lists may stand in each other. */
const MAX_LIST_DEPTH = 10;

interface Loading {
  kinds: ReadonlyMap<string, ManifestKind>;
  settings: KindSettings;
  /** By kind and name, the file. */
  seen: Map<string, string>;
  objects: Map<string, ApiObject[]>;
}

/** Reads, decodes strictly, defaults and validates all manifests of a folder. Throws an Error in upstream's words. */
export async function loadManifests(folder: string, kinds: readonly ManifestKind[], settings: KindSettings): Promise<LoadedManifests> {
  const { documents, hash } = await readManifestFiles(folder);
  return { objects: await readManifests(documents, kinds, settings), hash };
}

/** By kind, in the order of their names. */
export async function readManifests(
  documents: readonly ManifestDocument[],
  kinds: readonly ManifestKind[],
  settings: KindSettings,
): Promise<LoadedManifests['objects']> {
  const { parseYaml } = await import('../../encoding/yaml.ts');
  const byKind = new Map(kinds.map((kind) => [kind.definition.kind, kind]));
  const loading: Loading = { kinds: byKind, settings, seen: new Map(), objects: new Map(kinds.map(({ definition }) => [definition.kind, []])) };
  for (const { path, text } of documents) {
    try {
      const duplicates: DuplicateKeys = new Map();
      accept(loading, parseYaml(text, duplicates), path, duplicates, 0);
    } catch (error) {
      throw new Error(`error loading ${path}: ${(error as Error).message}`, { cause: error });
    }
  }
  for (const objects of loading.objects.values()) objects.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  return loading.objects;
}

function accept(loading: Loading, value: Json, path: string, duplicates: DuplicateKeys | undefined, depth: number): void {
  if (!isJsonObject(value)) throw new Error("couldn't get version/kind; json parse error: not an object");
  const { kind, apiVersion } = value;
  if (!kind) throw new Error(`Object 'Kind' is missing`);
  if (!apiVersion) throw new Error(`Object 'apiVersion' is missing`);
  const isList = kind === 'List' && apiVersion === 'v1';
  const listed = [...loading.kinds.values()].find(({ definition }) => kind === `${definition.kind}List` && apiVersion === versionOf(definition));
  if (isList || listed) return acceptItems(loading, value, path, listed, depth);
  const found = loading.kinds.get(String(kind));
  if (!found || apiVersion !== versionOf(found.definition)) throw new Error(`unsupported resource type ${String(apiVersion)}, Kind=${String(kind)}`);
  acceptObject(loading, found, value, path, duplicates);
}

function acceptItems(loading: Loading, list: JsonObject, path: string, listed: ManifestKind | undefined, depth: number): void {
  if (depth >= MAX_LIST_DEPTH) throw new Error('lists are nested too deeply');
  for (const item of Array.isArray(list['items']) ? list['items'] : []) {
    if (listed) acceptObject(loading, listed, item, path, undefined);
    else accept(loading, item, path, undefined, depth + 1);
  }
}

const versionOf = ({ served }: ResourceDefinition): string => apiVersionOf(served[0]!.group, served[0]!.version);

function acceptObject({ settings, seen, objects }: Loading, kind: ManifestKind, value: Json, path: string, duplicates: DuplicateKeys | undefined): void {
  const { definition } = kind;
  const object = decoded(definition, value, settings, duplicates);
  const errors = new FieldErrors();
  validateWhole(definition, writeOf(object, settings), errors);
  const name = object.metadata.name ?? '';
  if (!errors.isEmpty) throw new Error(`${definition.kind} ${quote(name)}: ${summarize(errors.list)}`);
  checkName(name, path, definition.kind, seen);
  kind.check(object, path);
  objects.get(definition.kind)!.push(object);
}

function decoded(definition: ResourceDefinition, value: Json, settings: KindSettings, duplicates: DuplicateKeys | undefined): ApiObject {
  const strict = { ...(duplicates && { duplicates }), errors: [] as string[] };
  const object = decode(definition.schema, value, strict) as unknown as ApiObject;
  if (strict.errors.length > 0) throw new Error(`strict decoding error: ${strict.errors.join(', ')}`);
  object.metadata ??= {};
  definition.served[0]!.default?.(object, { settings, now: new Date(), sentEmpty: NOTHING_EMPTY });
  return object;
}

/** There is no request that writes a manifest; the rules of these kinds ask for none. */
const writeOf = (object: ApiObject, settings: KindSettings): Write => ({
  object,
  old: undefined,
  sentEmpty: NOTHING_EMPTY,
  settings,
  now: new Date(),
  context: {} as RequestContext,
});

function checkName(name: string, path: string, kind: string, seen: Map<string, string>): void {
  if (name === '') throw new Error(`resource in file ${quote(path)} must have a name`);
  if (!name.endsWith(STATIC_SUFFIX)) throw new Error(`${quote(name)} in file ${quote(path)} must have a name ending with ${quote(STATIC_SUFFIX)}`);
  const before = seen.get(`${kind} ${name}`);
  if (before !== undefined) throw new Error(`duplicate name ${quote(name)} found in file ${quote(path)} (previously seen in ${quote(before)})`);
  seen.set(`${kind} ${name}`, path);
}
