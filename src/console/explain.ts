import type { AuthorizationAttributes, Decision } from '../api/authorization.ts';
import { badRequest, unsupportedMediaType } from '../api/errors.ts';
import type { User } from '../api/user.ts';
import type { Handler, ServerRequest } from '../endpoints/request.ts';
import { isJsonObject, parseJson, stringifyJson } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import type { Authorizer } from '../registry/authorizer.ts';
import type { Rehearse } from '../server/rehearsal.ts';
import type { IncomingRequest } from '../server/server-request.ts';
import { CapturedExchange, type CapturedRequest } from '../serving/captured-exchange.ts';
import { Explanation } from './explanation.ts';

/** What one authorizer says; `src/authorization/` has the type. */
export interface AuthorizerOpinion extends Decision {
  mode: string;
  name: string;
  grant?: object | undefined;
}

export interface ExplainOptions {
  /** Provided when the server's chain is prepared. */
  rehearse(): Rehearse;
  authorizer: Authorizer;
  opinions(attributes: AuthorizationAttributes): Promise<readonly AuthorizerOpinion[]>;
  /** Whether another server answers for a group and version: what that makes of a dry run is its own affair. */
  isServedElsewhere(group: string, version: string): boolean;
}

const BODY_LIMIT_BYTES = 1024 * 1024;
const ANSWER_LIMIT_BYTES = 256 * 1024;
const MAX_PATH_CHARACTERS = 8 * 1024;
const MAX_QUERY_CHARACTERS = 64 * 1024;
const MAX_USER_CHARACTERS = 1_024;
const MAX_GROUPS = 100;
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** Characters that no line of a request has. */
const PATH = /^\/[\x21\x22\x24-\x3e\x40-\x7e]*$/;

/** What is asked to be explained. */
interface Question extends Omit<CapturedRequest, 'remoteAddress'> {
  isDryRun: boolean;
}

/**
 * `POST /console/explain`: what would come of a request, and what each step says of it. It is sent through the server's own chain as whoever asks: with their
 * rights, and as a dry run where it writes.
 */
export function explainHandler(options: ExplainOptions): Handler {
  return async (request) => {
    const question = await readQuestion(request);
    const explanation = new Explanation(question.method !== 'GET' && question.method !== 'DELETE');
    const { exchange } = request;
    const captured = new CapturedExchange({ ...question, remoteAddress: exchange.remoteAddress }, ANSWER_LIMIT_BYTES);
    exchange.onClose(() => captured.close());
    explanation.add({ name: 'authentication', result: 'allowed', message: request.user.name, details: identityOf(request.user) });
    await options.rehearse()(captured, {
      user: request.user,
      observer: explanation,
      authorizer: observedAuthorizer(options, explanation, request.user),
      mayGoOn: (rehearsed) => mayGoOn(rehearsed, question.isDryRun, options, explanation),
    });
    const response = responseOf(captured);
    refusedImpersonation(explanation, captured.status, response.message);
    explanation.finish(captured.status, response.message);
    const answer = { steps: explanation.steps, response: { code: captured.status, body: response.body, ...(!response.isWhole && { isTruncated: true }) } };
    exchange.respond(200, { 'content-type': 'application/json', 'cache-control': 'no-store' }, stringifyJson(answer as unknown as JsonObject));
  };
}

const identityOf = ({ name, uid, groups }: User): object => ({ username: name, ...(uid !== undefined && { uid }), groups });

/** Asks each authorizer what it says, and lets the chain of them decide as it does for anybody. */
const observedAuthorizer = ({ authorizer, opinions }: ExplainOptions, explanation: Explanation, asker: User): Authorizer => ({
  rulesFor: (user, namespace) => authorizer.rulesFor(user, namespace),
  async authorize(attributes) {
    if (attributes.user !== asker)
      explanation.add({
        name: 'authentication',
        plugin: 'impersonation',
        result: 'allowed',
        message: attributes.user.name,
        details: identityOf(attributes.user),
      });
    const beganMs = performance.now();
    const said = await opinions(attributes);
    const decision = await authorizer.authorize(attributes);
    const isAllowed = decision.decision === 'allow';
    for (const { mode, name, decision: opinion, reason, error, grant } of said) {
      const isLast = mode === said.at(-1)!.mode && name === said.at(-1)!.name;
      explanation.add(
        {
          name: 'authorization',
          plugin: mode,
          result: opinion === 'allow' ? 'allowed' : opinion === 'deny' || (isLast && !isAllowed) ? (error === undefined ? 'denied' : 'failed') : 'passed',
          ...((error ?? reason) !== '' && { message: error ?? reason }),
          details: {
            mode,
            ...(name !== '' && { name }),
            ...grant,
            ...(isLast && !isAllowed && { missingRule: missingRule(attributes), namespace: attributes.namespace }),
          },
        },
        isLast ? performance.now() - beganMs : 0,
      );
    }
    return decision;
  },
});

/** What a role would have to have. */
const missingRule = ({ isResourceRequest, verb, path, apiGroup, resource, subresource }: AuthorizationAttributes): object =>
  isResourceRequest
    ? { verbs: [verb], apiGroups: [apiGroup], resources: [subresource === '' ? resource : `${resource}/${subresource}`] }
    : { verbs: [verb], nonResourceURLs: [path] };

/** What cannot be tried without being done ends here, allowed: shells, proxies and watches, paths that are no resources, and what other servers do. */
function mayGoOn({ info, isLongRunning }: IncomingRequest, isDryRun: boolean, { isServedElsewhere }: ExplainOptions, explanation: Explanation): boolean {
  const why = isLongRunning
    ? 'a watch, a log or a connection is not begun'
    : !info.isResourceRequest && (isDryRun || info.path.startsWith('/console'))
      ? 'what is no resource knows no dry run'
      : isDryRun && isServedElsewhere(info.apiGroup, info.apiVersion)
        ? 'another server answers for this group, which is not asked'
        : undefined;
  if (why !== undefined) explanation.add({ name: 'storage', result: 'skipped', message: why });
  return why === undefined;
}

/** The filter that looks whether somebody may speak for another refuses before anybody else is asked. */
function refusedImpersonation(explanation: Explanation, code: number, message: string | undefined): void {
  if (code !== 403 || explanation.steps.some(({ name }) => name === 'authorization')) return;
  explanation.add({ name: 'authentication', plugin: 'impersonation', result: 'denied', ...(message !== undefined && { message }) });
}

async function readQuestion(request: ServerRequest): Promise<Question> {
  const { exchange } = request;
  if (exchange.headers['content-type']?.split(';', 1)[0]!.trim() !== 'application/json') throw unsupportedMediaType('the body is to be of application/json');
  const asked = jsonObject(await exchange.readBody(BODY_LIMIT_BYTES), 'the body');
  const { method, path } = asked;
  if (typeof method !== 'string' || !METHODS.has(method)) throw badRequest(`method is to be one of ${[...METHODS].join(', ')}`);
  if (typeof path !== 'string' || path.length > MAX_PATH_CHARACTERS || !PATH.test(path)) throw badRequest('path is to begin with a slash, without a query');
  const isDryRun = WRITES.has(method);
  const query = queryOf(asked['query'], method);
  const contentType = contentTypeOf(asked, method);
  const headers = {
    accept: 'application/json',
    'user-agent': request.userAgent,
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...impersonationOf(asked),
  };
  return { method, target: query === '' ? path : `${path}?${query}`, headers, body: bodyOf(asked['body'], method), isDryRun };
}

function jsonObject(bytes: Buffer | string, what: string): JsonObject {
  let value: Json;
  try {
    value = parseJson(bytes);
  } catch (error) {
    throw badRequest(`${what} is no JSON: ${(error as Error).message}`);
  }
  if (!isJsonObject(value)) throw badRequest(`${what} is to be an object`);
  return value;
}

/** A write is always a dry run, whatever was asked for; of a list, one object is enough to see that it can be had. */
function queryOf(given: Json | undefined, method: string): string {
  if (given !== undefined && typeof given !== 'string') throw badRequest('query is to be a string');
  const text = given?.replace(/^\?/, '') ?? '';
  if (text.length > MAX_QUERY_CHARACTERS) throw badRequest(`query is longer than ${MAX_QUERY_CHARACTERS} characters`);
  const query = new URLSearchParams(text);
  if (WRITES.has(method)) query.set('dryRun', 'All');
  else if (!query.has('limit')) query.set('limit', '1');
  return query.toString();
}

function contentTypeOf({ contentType, body }: JsonObject, method: string): string | undefined {
  if (contentType !== undefined && (typeof contentType !== 'string' || contentType.length > 256 || !/^[\x20-\x7e]+$/.test(contentType)))
    throw badRequest('contentType is to be a media type');
  if (body === undefined || method === 'DELETE') return method === 'DELETE' ? 'application/json' : contentType;
  if (contentType !== undefined) return contentType;
  if (method !== 'PATCH') return typeof body === 'string' && !body.trimStart().startsWith('{') ? 'application/yaml' : 'application/json';
  return Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json';
}

/** The options of a deletion are read from its body, if there is one, and from nowhere else: it is there that a dry run is asked for. */
function bodyOf(body: Json | undefined, method: string): Buffer {
  if (method === 'GET') return Buffer.alloc(0);
  if (method !== 'DELETE') return body === undefined ? Buffer.alloc(0) : Buffer.from(typeof body === 'string' ? body : stringifyJson(body));
  const given = body === undefined || body === '' ? {} : isJsonObject(body) ? body : jsonObject(String(body), 'the body of a deletion');
  const { ignoreStoreReadErrorWithClusterBreakingPotential: _unsafe, ...options } = given;
  return Buffer.from(stringifyJson({ kind: 'DeleteOptions', apiVersion: 'v1', ...options, dryRun: ['All'] }));
}

function impersonationOf({ asUser, asGroups }: JsonObject): Record<string, string | string[]> {
  if (asUser === undefined && asGroups === undefined) return {};
  const groups = asGroups ?? [];
  if (typeof asUser !== 'string' || !isName(asUser)) throw badRequest('asUser is to be the name of a user');
  if (!Array.isArray(groups) || groups.length > MAX_GROUPS || !groups.every((group) => typeof group === 'string' && isName(group)))
    throw badRequest(`asGroups are to be up to ${MAX_GROUPS} names of groups`);
  return { 'impersonate-user': asUser, ...(groups.length > 0 && { 'impersonate-group': groups as string[] }) };
}

const isName = (name: string): boolean => name.length > 0 && name.length <= MAX_USER_CHARACTERS && !/[\r\n\0]/.test(name);

interface Response {
  body: Json;
  message: string | undefined;
  isWhole: boolean;
}

function responseOf({ answer, responseHeaders }: CapturedExchange): Response {
  const { bytes, isWhole } = answer;
  const text = bytes.toString();
  if (!isWhole || !String(responseHeaders['content-type'] ?? '').startsWith('application/json'))
    return { body: text, message: text.trim() || undefined, isWhole };
  const body = parseJson(bytes);
  const message = isJsonObject(body) && body['kind'] === 'Status' && typeof body['message'] === 'string' ? body['message'] : undefined;
  return { body, message, isWhole };
}
