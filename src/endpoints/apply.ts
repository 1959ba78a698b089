import { type Apply, appliedObject } from '../registry/apply-ownership.ts';
import type { WriteOptions } from '../registry/store.ts';
import type { NextObject } from '../registry/write.ts';
import { readContent } from '../schema/cbor-decode.ts';
import { apiVersionOf } from '../api/api-object.ts';
import { CborError } from '../encoding/cbor-items.ts';
import { badRequest, conflict } from '../api/errors.ts';
import { type DuplicateKeys, JsonError } from '../encoding/json-parser.ts';
import { isJsonObject, parseJsonInSteps } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { surrogateEscapeIn } from '../encoding/surrogate-escapes.ts';
import { nextTurn, runSliced } from '../util/time-slice.ts';
import type { ServerRequest } from './request.ts';
import { checkName, nameOf, namespaceOf, defaultNamespace } from './scope.ts';
import type { ResourceTarget } from './target.ts';

/** What an apply patch makes of the object that is there, or of none (endpoints/handlers/patch.go applyPatcher). */
export async function applier(
  request: ServerRequest,
  target: ResourceTarget,
  { bytes, isCbor }: { bytes: Buffer; isCbor: boolean },
  options: WriteOptions & { force: boolean },
): Promise<NextObject> {
  const duplicates: DuplicateKeys = new Map();
  // What is merged, owned and validated takes as long as reading it.
  if (bytes.length > LARGE_CONFIG_BYTES) request.isLarge = true;
  const config = isCbor ? readCbor(bytes) : await readConfig(bytes, duplicates, request.isLarge);
  if (request.isLarge) await nextTurn();
  const { info } = request;
  const { store, served, subresource } = target;
  const namespace = namespaceOf(request, target);
  const name = nameOf(request);
  return async (current) => {
    const write = {
      definition: store.definition,
      context: request,
      options: { ...options, subresource: info.subresource, apiVersion: apiVersionOf(served.group, served.version) },
      now: target.environment.now(),
    };
    const apply: Apply = { ...write, served, subresource, config, force: options.force };
    const applied = await appliedObject(apply, current);
    const { object } = applied;
    if (duplicates.size > 0) await complainOfDuplicates(request, bytes, options);
    if (object.metadata.uid && current === undefined) {
      const why = `uid mismatch: the provided object specified uid ${object.metadata.uid}, and no existing object was found`;
      throw conflict({ group: info.apiGroup, resource: info.resource }, name, why);
    }
    // Of a scale, it is the scale's own name that counts.
    const named = applied.through ?? object;
    defaultNamespace(named, namespace);
    checkName(named, name);
    return applied;
  };
}

const LARGE_CONFIG_BYTES = 16 * 1024;

const notYaml = (why: string): Error => badRequest(`error decoding YAML: ${why}`);

/** Repeated keys are an error in CBOR at once. */
function readCbor(bytes: Buffer): JsonObject {
  try {
    return readContent(bytes);
  } catch (error) {
    throw error instanceof CborError ? notYaml(error.message) : error;
  }
}

/** Most clients send JSON, which is YAML and far quicker to read. */
async function readConfig(bytes: Buffer, duplicates: DuplicateKeys, isLarge: boolean | undefined): Promise<JsonObject> {
  const value = (await readJson(bytes, duplicates, isLarge)) ?? (await readYaml(bytes, duplicates));
  if (value === null) return {};
  if (!isJsonObject(value)) {
    const what = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
    throw notYaml(`error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${what} into Go value of type map[string]interface {}`);
  }
  return value;
}

const OPENING_BRACE = 0x7b;

async function readJson(bytes: Buffer, duplicates: DuplicateKeys, isLarge: boolean | undefined): Promise<Json | undefined> {
  if (bytes[0] !== OPENING_BRACE || (bytes.includes('\\u') && surrogateEscapeIn(bytes.toString('latin1')) >= 0)) return undefined;
  try {
    return await runSliced(parseJsonInSteps(bytes, duplicates), isLarge);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    duplicates.clear();
    return undefined;
  }
}

async function readYaml(bytes: Buffer, duplicates: DuplicateKeys): Promise<Json> {
  const { YamlError, parseYamlInSlices } = await import('../encoding/yaml.ts');
  try {
    return await parseYamlInSlices(bytes.toString('utf8'), duplicates);
  } catch (error) {
    throw error instanceof YamlError ? notYaml(`error converting YAML to JSON: ${error.message}`) : error;
  }
}

/** Told after all else, as upstream reads the text a second time only then. */
async function complainOfDuplicates(request: ServerRequest, bytes: Buffer, { fieldValidation }: WriteOptions): Promise<void> {
  if (fieldValidation === 'Ignore') return;
  const { repeatedKeys } = await import('../encoding/yaml-duplicates.ts');
  const complaints = (await repeatedKeys(bytes.toString('utf8'))).map(({ line, key }) => `line ${line}: key ${key} already set in map`);
  if (fieldValidation === 'Strict' && complaints.length > 0)
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${complaints.join('\n  ')}`);
  for (const complaint of complaints) request.warn(complaint);
}
