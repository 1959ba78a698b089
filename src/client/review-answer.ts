import { quote } from '../util/go-quote.ts';
import { isJsonObject, ownValue, parseLongJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';

/**
 * The status of a review that a webhook answered. Which kind and version it is may be left out, as upstream's decoder has it; where they are said they
 * must be those of the question. Throws where the answer is none: what cannot be read is never a yes.
 */
export async function reviewStatus(body: Buffer, { kind, apiVersion }: { kind: string; apiVersion: string }): Promise<JsonObject> {
  const answer = await parseLongJson(body);
  if (!isJsonObject(answer)) throw new Error(`the webhook answered with something that is no ${kind}`);
  const said = { kind: ownValue(answer, 'kind') || kind, apiVersion: ownValue(answer, 'apiVersion') || apiVersion };
  if (said.kind !== kind || said.apiVersion !== apiVersion)
    throw new Error(`no kind ${quote(String(said.kind))} is registered for version ${quote(String(said.apiVersion))}`);
  const status = ownValue(answer, 'status') ?? {};
  if (!isJsonObject(status)) throw malformed('status', 'an object');
  return status;
}

/* Fields of a status. One of another type makes the whole answer malformed, as for upstream's decoder: what is left of it must not become a yes. */

export function flagOf(status: JsonObject, field: string): boolean {
  const value = ownValue(status, field) ?? false;
  if (typeof value !== 'boolean') throw malformed(field, 'true or false');
  return value;
}

export function stringField(object: JsonObject, field: string): string {
  const value = ownValue(object, field) ?? '';
  if (typeof value !== 'string') throw malformed(field, 'a string');
  return value;
}

export function textsOf(object: JsonObject, field: string): string[] {
  const value = ownValue(object, field) ?? [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) throw malformed(field, 'a list of strings');
  return value;
}

export function objectOf(object: JsonObject, field: string): JsonObject {
  const value = ownValue(object, field) ?? {};
  if (!isJsonObject(value)) throw malformed(field, 'an object');
  return value;
}

const malformed = (field: string, type: string): Error => new Error(`the webhook's answer is malformed: ${field} is not ${type}`);
