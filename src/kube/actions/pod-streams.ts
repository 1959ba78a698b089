import type { SubresourceAction } from '../../apis/define.ts';
import type { Pod } from '../../apis/facts/types/core-v1.ts';
import { queryBoolean } from '../../endpoints/query.ts';
import { chooseContainer, onlyAt, pathWithQuery, podOf } from './pod-location.ts';
import type { Kubelets } from '../kubelet/kubelets.ts';
import type { StreamMetrics } from '../kubelet/metrics.ts';
import type { Authorizer } from '../../registry/authorizer.ts';
import type { ConnectCall } from '../../registry/definition.ts';
import type { ProxyTarget } from '../../serving/proxy/forward.ts';
import { isUpgradeRequest, tunnel } from '../../serving/proxy/upgrade.ts';
import { resourceAttributes } from '../../api/authorization.ts';
import { ApiError, badRequest, forbidden, unknownError } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import type { JsonObject } from '../../encoding/json-types.ts';

export interface StreamOptions {
  authorizer: Pick<Authorizer, 'authorize'>;
  kubelets: Kubelets;
  metrics: StreamMetrics;
  /** Whether a feature gate is on. */
  isEnabled(gate: string): boolean;
}

/** Streams into a pod: GET for WebSockets, POST for the rest. */
const STREAM_METHODS = ['GET', 'POST'];
const FLAGS = ['stdin', 'stdout', 'stderr', 'tty'] as const;

/** exec and attach: streams of one container (pkg/registry/core/pod/rest/subresources.go). */
export const containerStream = (options: StreamOptions): SubresourceAction => ({
  connect: {
    methods: STREAM_METHODS,
    options: (query, path) => onlyAt(path, containerOptions(query)),
    async open(call) {
      await authorizeCreate(options, call);
      const pod = await podOf(call);
      const container = chooseContainer(pod, call.options.container);
      const path = pathWithQuery(`/${call.subresource}/${call.namespace}/${call.name}/${container}`, containerParameters(call));
      const { target, speaksWebSocket } = await kubeletOf(options, call, pod, path);
      // SPDY and WebSocket are loaded with the first stream.
      const { isCommandWebSocket, translateCommand } = await import('../kubelet/translate.ts');
      if (!translates(options, call, 'TranslateStreamCloseWebsocketRequests', speaksWebSocket) || !isCommandWebSocket(call.exchange))
        return passThrough(call, target, options.kubelets);
      const [stdin, stdout, stderr, tty] = FLAGS.map((name) => call.options[name] === true);
      const wanted = { stdin: stdin!, stdout: stdout!, stderr: stderr!, tty: tty! };
      options.metrics.translated(await translateCommand(call.exchange, target, wanted, options.kubelets.closing));
    },
  },
});

export const portForward = (options: StreamOptions): SubresourceAction => ({
  connect: {
    methods: STREAM_METHODS,
    options: (query, path) => onlyAt(path, query.has('ports') ? { ports: query.getAll('ports').flatMap(portsIn) } : {}),
    async open(call) {
      await authorizeCreate(options, call);
      const pod = await podOf(call);
      const ports = call.options.ports as number[] | undefined;
      const path = pathWithQuery(`/portForward/${call.namespace}/${call.name}`, ports ? [['port', ports.join(',')]] : []);
      const { target, speaksWebSocket } = await kubeletOf(options, call, pod, path);
      const { isTunnellingWebSocket, tunnelPortForward } = await import('../kubelet/port-forward.ts');
      if (!translates(options, call, 'PortForwardWebsockets', speaksWebSocket) || !isTunnellingWebSocket(call.exchange))
        return passThrough(call, target, options.kubelets);
      options.metrics.tunnelled(await withReason(tunnelPortForward(call.exchange, target, options.kubelets.closing)));
    },
  },
});

function containerOptions(query: URLSearchParams): JsonObject {
  const options: JsonObject = {};
  for (const name of FLAGS) if (queryBoolean(query, name)) options[name] = true;
  if (query.has('container')) options.container = query.get('container');
  if (query.has('command')) options.command = query.getAll('command');
  return options;
}

/** The same, as a kubelet is asked: it has names of its own. */
function containerParameters({ options, subresource }: ConnectCall): [string, string][] {
  const kubeletNames = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' };
  const streams = FLAGS.filter((name) => options[name] === true).map((name): [string, string] => [kubeletNames[name], '1']);
  const command = subresource === 'exec' ? ((options.command ?? []) as string[]) : [];
  return [...streams, ...command.map((word): [string, string] => ['command', word])];
}

const portsIn = (list: string): number[] =>
  list.split(',').map((text) => {
    const problem = !/^\d+$/.test(text) ? 'invalid syntax' : text.length > 9 || Number(text) > 65_535 ? 'value out of range' : undefined;
    if (problem) throw badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${quote(text)}: ${problem}`);
    return Number(text);
  });

/** A WebSocket begins with a GET, but it does what a POST does: reading is not enough (kubernetes/kubernetes#133515). */
async function authorizeCreate({ authorizer, isEnabled }: StreamOptions, { verb, context, namespace, name, subresource }: ConnectCall): Promise<void> {
  if (verb === 'create' || !isEnabled('AuthorizePodWebsocketUpgradeCreatePermission')) return;
  const asked = resourceAttributes({ user: context.user, verb: 'create', apiGroup: '', apiVersion: 'v1', resource: 'pods', subresource, namespace, name });
  const { decision, reason } = await authorizer.authorize(asked);
  if (decision !== 'allow') throw forbidden({ group: '', resource: 'pods' }, name, reason);
}

async function kubeletOf(
  { kubelets }: StreamOptions,
  { name }: ConnectCall,
  { spec: { nodeName } }: Pod,
  path: string,
): Promise<{ target: ProxyTarget; speaksWebSocket: boolean }> {
  if (!nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  const { host, port, transport, features } = await kubelets.of(nodeName, 'pods');
  return { target: { transport, host, port, path }, speaksWebSocket: features.includes('ExtendWebSocketsToKubelet') };
}

/** Whether WebSockets end here: kubelets that speak them themselves say so, the others know SPDY only. */
function translates({ isEnabled, metrics }: StreamOptions, { subresource }: ConnectCall, gate: string, speaksWebSocket: boolean): boolean {
  if (!isEnabled(gate)) return false;
  const isKubelets = speaksWebSocket && isEnabled('ExtendWebSocketsToKubelet');
  metrics.routed(subresource, isKubelets ? 'proxied_to_kubelet' : 'translated_at_apiserver');
  return !isKubelets;
}

/** Whatever the two sides speak, they speak to each other. */
async function passThrough({ exchange }: ConnectCall, target: ProxyTarget, { closing }: Kubelets): Promise<void> {
  if (!isUpgradeRequest(exchange)) throw badRequest('Upgrade request required');
  await withReason(tunnel(exchange, target, { signal: closing }));
}

/** What the road to the kubelet says of its failure is for the client to know, as upstream has it. */
async function withReason<Result>(pending: Promise<Result>): Promise<Result> {
  try {
    return await pending;
  } catch (error) {
    throw error instanceof ApiError ? error : unknownError((error as Error).message);
  }
}
