import { isJsonObject, stringifyJson } from '../src/util/json.ts';
import type { Json, JsonObject } from '../src/util/json-types.ts';
import { LIMITS } from '../src/util/limits.ts';
import type { Answer } from './answer.ts';
import { differencesOf } from './differences.ts';

/** An applied object with an unknown field: the first that comes ends the reading of its map, so that what else is wrong is told or not. */
const UNKNOWN_FIELD = /^(failed to create typed patch object \(.*?\)): .*(field not declared in schema)/s;

const REFUSED_BY = /^(?:Internal error occurred: failed calling|admission) webhook "([^"]+)"/;

/** Why two answers differ as a whole: the same errors in another order, another of several webhooks that refuse, or a handler of the reference that panicked. */
export function explainWhole(reference: Answer, server: Answer): string | undefined {
  if (reference.status === 0 && server.status >= 400 && server.status < 500) return 'the reference broke off without an answer (its handler panicked)';
  if (areRefusedByOthers(reference, server)) return 'which of several validating webhooks, which are asked at once, is heard first';
  if (reference.status < 400 || reference.status !== server.status || !isJsonObject(reference.body) || !isJsonObject(server.body)) return undefined;
  const [, named, fault] = UNKNOWN_FIELD.exec(String(reference.body['message'])) ?? [];
  if (fault !== undefined && UNKNOWN_FIELD.exec(String(server.body['message']))?.[1] === named)
    return 'which unknown field comes first (of a Go map), and ends the reading';
  if (isCutOff(causesOf(reference.body), causesOf(server.body))) return 'of very many field errors the first are told (docs/limits.md)';
  const [one, other] = [inOrder(reference), inOrder(server)];
  return differencesOf(one, other).length === 0 ? "the same errors in another order (of a Go map's keys)" : undefined;
}

const causesOf = ({ details }: JsonObject): Json[] => (isJsonObject(details) && Array.isArray(details['causes']) ? details['causes'] : []);

/** Whether the server ended where one of its limits is, and said the same as far as it went. */
function isCutOff(reference: readonly Json[], server: readonly Json[]): boolean {
  const text = stringifyJson(server);
  const isAtLimit = server.length >= LIMITS.fieldErrors || text.length >= LIMITS.fieldErrorCharacters;
  return isAtLimit && reference.length > server.length && stringifyJson(reference.slice(0, server.length)) === text;
}

/** Mutating webhooks are asked one after the other: where they refuse, both servers have asked as many, and the last one says so. */
function areRefusedByOthers(reference: Answer, server: Answer): boolean {
  if (reference.status < 400 || server.status < 400 || !isJsonObject(reference.body) || !isJsonObject(server.body)) return false;
  const [one, other] = [reference, server].map(({ body }) => REFUSED_BY.exec(String((body as JsonObject)['message']))?.[1]);
  if (one === undefined || other === undefined || one === other || !Array.isArray(reference.reviews) || reference.reviews.length < 2) return false;
  const asked = ({ reviews }: Answer): Answer => ({ status: 0, headers: {}, body: null, reviews: reviews ?? null });
  return differencesOf(asked(reference), asked(server)).length === 0;
}

/** With the causes sorted; the message, which has the same ones in the same order, with its parts sorted. */
function inOrder(answer: Answer): Answer {
  const body = answer.body as JsonObject;
  const details = isJsonObject(body['details']) ? body['details'] : undefined;
  const causes = causesOf(body);
  const parts = causes.flatMap((cause) => (isJsonObject(cause) ? [String(cause['field']), String(cause['message'])] : []));
  let message = String(body['message']);
  for (const part of parts.sort((a, b) => b.length - a.length)) message = message.replace(part, '');
  const sorted = message.split('\n').sort().join('\n');
  const inCauses = causes.map((cause) => stringifyJson(cause)).sort();
  return { ...answer, body: { ...body, message: sorted, ...(details && { details: { ...details, causes: inCauses } }) } };
}
