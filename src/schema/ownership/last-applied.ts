import { stringifyJson, isJsonObject, ownValue, parseJson, setKey } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { compareObjects } from './compare.ts';
import { type FieldSet, difference } from './field-set.ts';
import { fieldsOf } from './fields-of.ts';
import { TypeMismatch, validateApplied } from './validate.ts';
import type { Versioned } from './updater.ts';

/** What kubectl's client-side apply keeps of what it sent. */
const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
/** Whose applies take over from it, and keep it up to date. */
export const MIGRATING_MANAGER = 'kubectl';
const ANNOTATIONS_MAX_BYTES = 256 * 1024;

const annotationsOf = (object: JsonObject): JsonObject | undefined => {
  const metadata = object['metadata'];
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
};

/**
 * The fields that the object still has as client-side apply sent them last: a server-side apply may take those from whoever owns them. Undefined where
 * there is no annotation, or none that can be read (managedfields/internal/lastappliedmanager.go).
 */
export function lastAppliedFields(live: Versioned): FieldSet | undefined {
  const text = ownValue(annotationsOf(live.value) ?? {}, ANNOTATION);
  const applied = typeof text === 'string' ? readObject(text) : undefined;
  if (applied === undefined || applied['apiVersion'] !== live.apiVersion) return undefined;
  try {
    validateApplied(live.plan, applied);
  } catch (error) {
    if (error instanceof TypeMismatch) return undefined;
    throw error;
  }
  const { modified, added, removed } = compareObjects(live.plan, applied, live.value);
  return difference(difference(difference(fieldsOf(live.plan, applied), modified), added), removed);
}

function readObject(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Where the object carries the annotation, it says what was applied now; without it where that is too much (lastappliedupdater.go). Changes the object. */
export function updateLastApplied(object: JsonObject, applied: JsonObject): void {
  const annotations = annotationsOf(object);
  if (annotations === undefined || !ownValue(annotations, ANNOTATION)) return;
  annotations[ANNOTATION] = `${stringifyJson(sorted(withoutAnnotation(applied)))}\n`;
  const sizeBytes = Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)), 0);
  if (sizeBytes > ANNOTATIONS_MAX_BYTES) delete annotations[ANNOTATION];
}

function withoutAnnotation(applied: JsonObject): JsonObject {
  const annotations = annotationsOf(applied);
  if (annotations === undefined) return applied;
  const { [ANNOTATION]: _last, ...others } = annotations;
  return { ...applied, metadata: { ...(applied['metadata'] as JsonObject), annotations: others } };
}

/** With keys in the order in which Go writes a map's. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value).toSorted()) if (value[key] !== undefined) setKey(out, key, sorted(value[key]));
  return out;
}
