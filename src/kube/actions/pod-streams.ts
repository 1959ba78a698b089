import { containersOf } from '../../apis/core/pod/containers-of.ts';
import type { Action } from '../../apis/define.ts';
import type { Pod } from '../../apis/facts/types/core-v1.ts';
import type { Client } from '../../client/client.ts';
import { queryBoolean, queryInteger } from '../../endpoints/query.ts';
import type { Authorizer } from '../../registry/authorizer.ts';
import type { ConnectCall } from '../../registry/definition.ts';
import { badRequest, forbidden, genericNotFound, invalid } from '../../util/errors.ts';
import { FieldErrors, quote } from '../../util/field-errors.ts';
import type { JsonObject } from '../../util/json-types.ts';
import { canonicalTime } from '../../util/time.ts';
import { connectionToCome, kubeletHost } from './kubelet.ts';

export interface StreamOptions {
  client: Client;
  authorizer: Pick<Authorizer, 'authorize'>;
  /** --kubelet-preferred-address-types */
  preferredAddressTypes: readonly string[];
}

/** Streams into a pod: GET for WebSockets, POST for the rest. */
const STREAM_METHODS = ['GET', 'POST'];

/** GET pods/log (pkg/registry/core/pod/rest/log.go). A pod that runs nowhere has an empty log. */
export const podLog = (options: StreamOptions): Action => ({
  connect: {
    methods: ['GET'],
    options: (query, path) => onlyAt(path, logOptions(query)),
    async open(call) {
      validateLogOptions(call.name, call.options);
      const pod = await podOf(call);
      chooseContainer(pod, call.options.container);
      if (!pod.spec.nodeName) return;
      await kubeletHost(options.client, pod.spec.nodeName, options.preferredAddressTypes);
      throw connectionToCome(`the log of pod ${quote(call.name)} cannot be read`);
    },
  },
});

/** exec and attach: streams of one container. */
export const containerStream = (options: StreamOptions): Action => ({
  connect: {
    methods: STREAM_METHODS,
    options: (query, path) => onlyAt(path, containerOptions(query)),
    async open(call) {
      await authorizeCreate(options.authorizer, call);
      const pod = await podOf(call);
      chooseContainer(pod, call.options.container);
      await dial(options, call, pod);
    },
  },
});

export const portForward = (options: StreamOptions): Action => ({
  connect: {
    methods: STREAM_METHODS,
    options: (query, path) => onlyAt(path, query.has('ports') ? { ports: query.getAll('ports').flatMap(portsIn) } : {}),
    async open(call) {
      await authorizeCreate(options.authorizer, call);
      await dial(options, call, await podOf(call));
    },
  },
});

function onlyAt(path: string, options: JsonObject): JsonObject {
  if (path !== '' && path !== '/') throw genericNotFound();
  return options;
}

function logOptions(query: URLSearchParams): JsonObject {
  const options: JsonObject = {};
  for (const name of ['container', 'stream']) if (query.has(name)) options[name] = query.get(name);
  for (const name of ['follow', 'previous', 'timestamps', 'insecureSkipTLSVerifyBackend']) if (queryBoolean(query, name)) options[name] = true;
  for (const name of ['sinceSeconds', 'tailLines', 'limitBytes']) {
    const value = queryInteger(query, name);
    if (value !== undefined) options[name] = value;
  }
  if (query.has('sinceTime')) options.sinceTime = readTime(query.get('sinceTime')!);
  return options;
}

function readTime(text: string): string | null {
  if (text === '' || text === 'null') return null;
  try {
    return canonicalTime(text);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}

function validateLogOptions(name: string, { tailLines, limitBytes, sinceSeconds, sinceTime, stream }: JsonObject): void {
  const errors = new FieldErrors();
  if (typeof tailLines === 'number' && tailLines < 0) errors.at('tailLines').invalid(tailLines, 'must be greater than or equal to 0');
  if (typeof limitBytes === 'number' && limitBytes < 1) errors.at('limitBytes').invalid(limitBytes, 'must be greater than 0');
  if (sinceSeconds !== undefined && sinceTime !== undefined) errors.forbidden('at most one of `sinceTime` or `sinceSeconds` may be specified');
  else if (typeof sinceSeconds === 'number' && sinceSeconds < 1) errors.at('sinceSeconds').invalid(sinceSeconds, 'must be greater than 0');
  if (stream !== undefined) errors.at('stream').forbidden('may not be specified');
  if (!errors.isEmpty) throw invalid({ group: '', kind: 'PodLogOptions' }, name, errors.list);
}

function containerOptions(query: URLSearchParams): JsonObject {
  const options: JsonObject = {};
  for (const name of ['stdin', 'stdout', 'stderr', 'tty']) if (queryBoolean(query, name)) options[name] = true;
  if (query.has('container')) options.container = query.get('container');
  if (query.has('command')) options.command = query.getAll('command');
  return options;
}

const portsIn = (list: string): number[] =>
  list.split(',').map((text) => {
    const problem = !/^\d+$/.test(text) ? 'invalid syntax' : text.length > 9 || Number(text) > 65_535 ? 'value out of range' : undefined;
    if (problem) throw badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${quote(text)}: ${problem}`);
    return Number(text);
  });

/** A WebSocket begins with a GET, but it does what a POST does: reading is not enough (kubernetes/kubernetes#133515). */
async function authorizeCreate(authorizer: Pick<Authorizer, 'authorize'>, { verb, context, namespace, name, subresource }: ConnectCall): Promise<void> {
  if (verb === 'create') return;
  const what = { isResourceRequest: true, apiGroup: '', apiVersion: 'v1', resource: 'pods', subresource, namespace, name, path: '' };
  const { decision, reason } = await authorizer.authorize({ user: context.user, verb: 'create', ...what });
  if (decision !== 'allow') throw forbidden({ group: '', resource: 'pods' }, name, reason);
}

const podOf = async ({ store, namespace, name }: ConnectCall): Promise<Pod> => (await store.get(namespace, name, '')).object<Pod>();

/** A container must be named where there are several, and be one of the pod's where it is. */
function chooseContainer({ metadata, spec }: Pod, wanted: unknown): void {
  const names = [...containersOf(spec)].map(({ name }) => name);
  const count = spec.containers?.length ?? 0;
  if (typeof wanted === 'string' && wanted !== '') {
    if (!names.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${metadata.name}`);
  } else if (count === 0) {
    throw badRequest(`a container name must be specified for pod ${metadata.name}`);
  } else if (count > 1) {
    throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]`);
  }
}

async function dial({ client, preferredAddressTypes }: StreamOptions, { name, subresource }: ConnectCall, { spec: { nodeName } }: Pod): Promise<never> {
  if (!nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  await kubeletHost(client, nodeName, preferredAddressTypes);
  throw connectionToCome(`${subresource} of pod ${quote(name)} cannot be begun`);
}
