import { quote } from '../util/field-errors.ts';
import { isJsonObject, ownValue, parseJson } from '../util/json.ts';
import type { JsonObject } from '../util/json-types.ts';

/**
 * The status of a review that a webhook answered. Which kind and version it is may be left out, as upstream's decoder has it; where they are said they
 * must be those of the question. Throws where the answer is none: what cannot be read is never a yes.
 */
export function reviewStatus(body: Buffer, { kind, apiVersion }: { kind: string; apiVersion: string }): JsonObject {
  const answer = parseJson(body);
  if (!isJsonObject(answer)) throw new Error(`the webhook answered with something that is no ${kind}`);
  const said = { kind: ownValue(answer, 'kind') || kind, apiVersion: ownValue(answer, 'apiVersion') || apiVersion };
  if (said.kind !== kind || said.apiVersion !== apiVersion)
    throw new Error(`no kind ${quote(String(said.kind))} is registered for version ${quote(String(said.apiVersion))}`);
  const status = ownValue(answer, 'status');
  return isJsonObject(status) ? status : {};
}
