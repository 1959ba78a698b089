import { readFile } from 'node:fs/promises';
import { TEXT, decodeConfiguration, optional, structOf } from '../schema/configuration-file.ts';
import type { TypeSchema } from '../schema/schema.ts';
import { EXPORT_PATH, encodeExport } from '../server/tracing/otlp.ts';
import { SpanBatches } from '../server/tracing/span-batches.ts';
import { Tracer } from '../server/tracing/tracer.ts';
import { GrpcChannel, type GrpcTarget } from '../grpc/channel.ts';
import type { Dial } from '../net/dial.ts';
import { FieldErrors, summarize } from '../api/field-errors.ts';
import { quote } from '../util/go-quote.ts';
import { parseGoUrl } from '../net/go-url.ts';
import { CommandError } from '../options/command-error.ts';
import type { Logger } from './logger.ts';

interface TracingConfiguration {
  endpoint?: string;
  samplingRatePerMillion?: number;
}

const INTEGER: TypeSchema = { type: 'int32' };
const TYPE = {
  kind: 'TracingConfiguration',
  apiVersions: ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`),
  schema: structOf('v1.TracingConfiguration', { kind: TEXT, apiVersion: TEXT, endpoint: optional(TEXT), samplingRatePerMillion: optional(INTEGER) }),
};
const MILLION = 1_000_000;
/** OTLP's own. */
const DEFAULT_ENDPOINT = 'localhost:4317';
const DEFAULT_PORT = 443;
const EXPORT_TIMEOUT_MS = 10_000;
const CLOSING_TIMEOUT_MS = 1_000;

export interface OpenTracing {
  tracer: Tracer;
  /** Sends what is left, if that can be done soon. */
  close(): Promise<void>;
}

interface TracingParts {
  logger: Logger;
  serverId: string;
  /** The way to the collector. */
  dial: Dial | undefined;
}

/** --tracing-config-file. Throws CommandError where the file cannot be read or used. */
export async function openTracing(path: string, { logger, serverId, dial }: TracingParts): Promise<OpenTracing> {
  const { endpoint = DEFAULT_ENDPOINT, samplingRatePerMillion = 0 } = await readTracingConfiguration(path);
  const channel = new GrpcChannel(collectorOf(endpoint), { dial });
  const resource = { 'service.name': 'apiserver', 'service.instance.id': serverId };
  let isFailing = false;
  const batches = new SpanBatches({
    async send(spans) {
      await channel.unary(EXPORT_PATH, encodeExport(resource, spans), { timeoutMs: EXPORT_TIMEOUT_MS });
      isFailing = false;
    },
    onFailure(error) {
      // The first of a row: a collector may be away for long.
      if (!isFailing) logger.warn('Traces cannot be sent', { endpoint, error });
      isFailing = true;
    },
  });
  return {
    tracer: new Tracer({ samplingRatePerMillion, record: (span) => batches.add(span) }),
    async close() {
      const timer = setTimeout(() => channel.close(), CLOSING_TIMEOUT_MS);
      await batches.close();
      clearTimeout(timer);
      channel.close();
    },
  };
}

export async function readTracingConfiguration(path: string): Promise<TracingConfiguration> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new CommandError(`failed to read tracing config: unable to read tracing configuration from ${quote(path)}: ${error.message}`);
  });
  const configuration = (await decodeConfiguration(text, TYPE).catch((error: Error) => {
    throw new CommandError(`failed to read tracing config: unable to decode tracing configuration data: ${error.message}`);
  })) as TracingConfiguration;
  const errors = validate(configuration);
  if (!errors.isEmpty) throw new CommandError(`failed to validate tracing configuration: ${summarize(errors.list)}`);
  return configuration;
}

/** component-base/tracing/api/v1/config.go */
function validate({ endpoint, samplingRatePerMillion: rate = 0 }: TracingConfiguration): FieldErrors {
  const errors = new FieldErrors();
  if (rate < 0) errors.at('samplingRatePerMillion').invalid(rate, 'sampling rate must be positive');
  if (rate > MILLION) errors.at('samplingRatePerMillion').invalid(rate, 'sampling rate per million must be less than or equal to one million');
  if (endpoint === undefined) return errors;
  const url = withScheme(endpoint);
  const parsed = parseGoUrl(url);
  if ('error' in parsed) errors.at('endpoint').invalid(url, parsed.error);
  else if (!['dns', 'unix', 'unix-abstract'].includes(parsed.scheme))
    errors
      .at('endpoint')
      .invalid(
        url,
        `unsupported scheme: ${parsed.scheme}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`,
      );
  return errors;
}

const withScheme = (endpoint: string): string => (endpoint.includes('//') ? endpoint : `dns://${endpoint}`);

/** gRPC's names: `host:port`, `dns://resolver/host:port`, `unix:///path`, `unix-abstract://name`. A resolver is not asked: the system's is. */
function collectorOf(endpoint: string): GrpcTarget {
  const [, scheme, rest] = /^([a-z-]+):\/\/(.*)$/s.exec(endpoint) ?? [];
  if (scheme === 'unix') return { socketPath: rest! };
  if (scheme === 'unix-abstract') return { socketPath: `\0${rest!}` };
  const address = rest === undefined ? endpoint : rest.slice(rest.indexOf('/') + 1);
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(address) ?? [];
  return { host: bracketed ?? plain ?? address, port: port === undefined ? DEFAULT_PORT : Number(port) };
}
