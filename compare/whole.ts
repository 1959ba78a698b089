import { isJsonObject, stringifyJson } from '../src/encoding/json.ts';
import type { Json, JsonObject } from '../src/encoding/json-types.ts';
import { LIMITS } from '../src/util/limits.ts';
import type { Answer } from './answer.ts';
import { differencesOf } from './differences.ts';

const REFUSED_BY = /^(?:Internal error occurred: failed calling|admission) webhook "([^"]+)"/;

/**
 * Why two answers differ as a whole: errors beyond a limit, another of several webhooks that refuse, or a handler of the reference that panicked. `ends`: what
 * is stored differs from then on.
 */
export function explainWhole(reference: Answer, server: Answer): { name: string; ends: boolean } | undefined {
  if (isChangedInForm(reference, server)) return { name: 'the reference compares values without a type by their bytes (docs/differences.md)', ends: true };
  const name = nameOfWhole(reference, server);
  return name === undefined ? undefined : { name, ends: false };
}

function nameOfWhole(reference: Answer, server: Answer): string | undefined {
  if (reference.status === 0 && server.status >= 400 && server.status < 500) return 'the reference broke off without an answer (its handler panicked)';
  if ((reference.status === 404 || isEmptyList(reference)) && server.status === 500 && messageOf(server).startsWith('conversion webhook for '))
    return 'the reference has nothing cached that could not be converted (docs/differences.md)';
  if (hasAskedAgain(reference, server)) return 'the reference asked webhooks again, since what it had cached was not what was stored (docs/differences.md)';
  if (areRefusedByOthers(reference, server)) return 'which of several validating webhooks, which are asked at once, is heard first';
  if (reference.status < 400 || reference.status !== server.status || !isJsonObject(reference.body) || !isJsonObject(server.body)) return undefined;
  const [told, own] = [causesOf(reference.body), causesOf(server.body)];
  if (areContributorsReordered(told, own)) return 'the order of rules whose estimated costs are too large to be told apart (docs/differences.md)';
  return isCutOff(told, own) ? 'of very many field errors the first are told (docs/limits.md)' : undefined;
}

/** Kinds that have values without a type in what may not change. */
const HOLD_RAW_VALUES = new Set<Json | undefined>(['ControllerRevision', 'ResourceClaim', 'ResourceClaimTemplate']);

const isChangedInForm = (reference: Answer, server: Answer): boolean =>
  reference.status === 422 &&
  server.status === 200 &&
  /is invalid: (?:data|spec): Invalid value: .*: field is immutable$/s.test(messageOf(reference)) &&
  isJsonObject(server.body) &&
  HOLD_RAW_VALUES.has(server.body['kind']);

const isEmptyList = ({ status, body }: Answer): boolean =>
  status === 200 && isJsonObject(body) && [body['items'], body['rows']].some((list) => list === null || (Array.isArray(list) && list.length === 0));

const messageOf = ({ body }: Answer): string => (isJsonObject(body) ? String(body['message']) : '');

const causesOf = ({ details }: JsonObject): Json[] => (isJsonObject(details) && Array.isArray(details['causes']) ? details['causes'] : []);

/** Whether nothing differs but the order of the rules that make a definition too expensive. */
function areContributorsReordered(reference: readonly Json[], server: readonly Json[]): boolean {
  const [one, other] = [reference, server].map((causes) => causes.map((cause) => stringifyJson(cause)));
  const moved = one!.filter((cause, index) => cause !== other![index]);
  const isContributor = (cause: string): boolean => cause.includes('"Forbidden: contributed to estimated rule cost total exceeding cost limit');
  return moved.length > 0 && one!.length === other!.length && moved.every(isContributor) && one!.toSorted().join() === other!.toSorted().join();
}

/** Whether the server ended where one of its limits is, and said the same as far as it went. */
function isCutOff(reference: readonly Json[], server: readonly Json[]): boolean {
  const text = stringifyJson(server);
  const isAtLimit = server.length >= LIMITS.fieldErrors || text.length >= LIMITS.fieldErrorCharacters;
  return isAtLimit && reference.length > server.length && stringifyJson(reference.slice(0, server.length)) === text;
}

/** A write that changes nothing but the stored form (defaults that were not stored) is tried by the reference again with what is stored. */
function hasAskedAgain({ reviews: ofReference, ...reference }: Answer, { reviews: ofServer, ...server }: Answer): boolean {
  if (!Array.isArray(ofReference) || !Array.isArray(ofServer) || ofReference.length !== 2 * ofServer.length) return false;
  const isAmong = (review: Json, others: readonly Json[]): boolean => others.some((other) => differencesOf(asked([review]), asked([other])).length === 0);
  return (
    differencesOf(reference, server).length === 0 &&
    ofReference.every((review) => isAmong(review, ofServer)) &&
    ofServer.every((review) => isAmong(review, ofReference))
  );
}

/** Mutating webhooks are asked one after the other: where they refuse, both servers have asked as many, and the last one says so. */
function areRefusedByOthers(reference: Answer, server: Answer): boolean {
  if (reference.status < 400 || server.status < 400 || !isJsonObject(reference.body) || !isJsonObject(server.body)) return false;
  const [one, other] = [reference, server].map(({ body }) => REFUSED_BY.exec(String((body as JsonObject)['message']))?.[1]);
  if (one === undefined || other === undefined || one === other || !Array.isArray(reference.reviews) || reference.reviews.length < 2) return false;
  return differencesOf(asked(reference.reviews), asked(server.reviews ?? null)).length === 0;
}

/** An answer of which nothing is known but what webhooks were asked. */
const asked = (reviews: Json): Answer => ({ status: 0, headers: {}, body: null, reviews });
