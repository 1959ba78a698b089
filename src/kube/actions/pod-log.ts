import type { SubresourceAction } from '../../apis/define.ts';
import { queryBoolean, queryInteger } from '../../endpoints/query.ts';
import { chooseContainer, onlyAt, pathWithQuery, podOf } from './pod-location.ts';
import { answerLog } from '../kubelet/log.ts';
import { badRequest, invalid } from '../../api/errors.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { canonicalTime } from '../../util/time.ts';
import type { StreamOptions } from './pod-streams.ts';

const LOG_STREAMS = ['All', 'Stderr', 'Stdout'];

/** GET pods/log (pkg/registry/core/pod/rest/log.go). A pod that runs nowhere has an empty log. */
export const podLog = ({ kubelets, metrics, isEnabled }: StreamOptions): SubresourceAction => ({
  connect: {
    methods: ['GET'],
    options: (query, path) => onlyAt(path, logOptions(query)),
    async open(call) {
      const hasStreams = isEnabled('PodLogsQuerySplitStreams');
      const options: JsonObject = hasStreams ? { stream: 'All', ...call.options } : call.options;
      const isUnverified = options.insecureSkipTLSVerifyBackend === true;
      metrics.logRead(isUnverified);
      validateLogOptions(call.name, options, hasStreams);
      const pod = await podOf(call);
      const container = chooseContainer(pod, options.container);
      if (!pod.spec.nodeName) return;
      const { host, port, transport, unverifiedTransport } = await kubelets.of(pod.spec.nodeName, 'pods');
      const path = pathWithQuery(`/containerLogs/${call.namespace}/${call.name}/${container}`, logParameters(options));
      try {
        await answerLog(call.exchange, { transport: isUnverified ? unverifiedTransport : transport, host, port, path, podName: call.name });
      } catch (error) {
        if ((error as Error).message.includes('x509:')) metrics.logTlsFailed();
        throw error;
      }
    },
  },
});

const BOOLEANS = ['follow', 'previous', 'timestamps'] as const;
const INTEGERS = ['sinceSeconds', 'tailLines', 'limitBytes'] as const;

function logOptions(query: URLSearchParams): JsonObject {
  const options: JsonObject = {};
  for (const name of ['container', 'stream']) if (query.has(name)) options[name] = query.get(name);
  for (const name of [...BOOLEANS, 'insecureSkipTLSVerifyBackend']) if (queryBoolean(query, name)) options[name] = true;
  for (const name of INTEGERS) {
    const value = queryInteger(query, name);
    if (value !== undefined) options[name] = value;
  }
  if (query.has('sinceTime')) options.sinceTime = readTime(query.get('sinceTime')!);
  return options;
}

/** The same, as a kubelet is asked. */
function logParameters(options: JsonObject): [string, string][] {
  const names = [...BOOLEANS, ...INTEGERS, 'sinceTime', 'stream'];
  return names.flatMap((name): [string, string][] => (options[name] === undefined || options[name] === null ? [] : [[name, String(options[name])]]));
}

function readTime(text: string): string | null {
  if (text === '' || text === 'null') return null;
  try {
    return canonicalTime(text);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}

function validateLogOptions(name: string, { tailLines, limitBytes, sinceSeconds, sinceTime, stream }: JsonObject, hasStreams: boolean): void {
  const errors = new FieldErrors();
  if (typeof tailLines === 'number' && tailLines < 0) errors.at('tailLines').invalid(tailLines, 'must be greater than or equal to 0');
  if (typeof limitBytes === 'number' && limitBytes < 1) errors.at('limitBytes').invalid(limitBytes, 'must be greater than 0');
  if (sinceSeconds !== undefined && sinceTime !== undefined) errors.forbidden('at most one of `sinceTime` or `sinceSeconds` may be specified');
  else if (typeof sinceSeconds === 'number' && sinceSeconds < 1) errors.at('sinceSeconds').invalid(sinceSeconds, 'must be greater than 0');
  if (!hasStreams && stream !== undefined) errors.at('stream').forbidden('may not be specified');
  if (hasStreams && !LOG_STREAMS.includes(String(stream))) errors.at('stream').notSupportedString(stream as string, LOG_STREAMS);
  if (hasStreams && stream !== 'All' && tailLines !== undefined) errors.forbidden('`tailLines` and specific `stream` are mutually exclusive for now');
  if (!errors.isEmpty) throw invalid({ group: '', kind: 'PodLogOptions' }, name, errors.list);
}
