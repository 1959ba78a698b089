import type { Draft } from './completion.ts';

const MODES = ['batch', 'blocking', 'blocking-strict'];
const FORMATS = ['legacy', 'json'];
const VERSION = 'audit.k8s.io/v1';

/** One of the two ways out for audit events, under the names that upstream's messages use. */
interface Backend {
  readonly name: 'log' | 'webhook';
  readonly mode: string;
  readonly version: string;
  readonly batch: {
    readonly bufferSize: number;
    readonly maxSize: number;
    readonly isThrottled: boolean;
    readonly throttleQps: number;
    readonly throttleBurst: number;
  };
  readonly truncate: { readonly maxBatchSize: number; readonly maxEventSize: number };
}

/** A backend that is not in use is not checked. */
export function* validateAuditing(options: Draft): Generator<string> {
  if (options.auditLogPath !== '') {
    yield* validateBackend(logBackend(options));
    yield* validateLogFile(options);
  }
  if (options.auditWebhookConfigFile !== '') yield* validateBackend(webhookBackend(options));
}

const logBackend = (options: Draft): Backend => ({
  name: 'log',
  mode: options.auditLogMode,
  version: options.auditLogVersion,
  batch: {
    bufferSize: options.auditLogBatchBufferSize,
    maxSize: options.auditLogBatchMaxSize,
    isThrottled: options.auditLogBatchThrottleEnable,
    throttleQps: options.auditLogBatchThrottleQps,
    throttleBurst: options.auditLogBatchThrottleBurst,
  },
  truncate: { maxBatchSize: options.auditLogTruncateMaxBatchSize, maxEventSize: options.auditLogTruncateMaxEventSize },
});

const webhookBackend = (options: Draft): Backend => ({
  name: 'webhook',
  mode: options.auditWebhookMode,
  version: options.auditWebhookVersion,
  batch: {
    bufferSize: options.auditWebhookBatchBufferSize,
    maxSize: options.auditWebhookBatchMaxSize,
    isThrottled: options.auditWebhookBatchThrottleEnable,
    throttleQps: options.auditWebhookBatchThrottleQps,
    throttleBurst: options.auditWebhookBatchThrottleBurst,
  },
  truncate: { maxBatchSize: options.auditWebhookTruncateMaxBatchSize, maxEventSize: options.auditWebhookTruncateMaxEventSize },
});

function* validateBackend(backend: Backend): Generator<string> {
  const { name, mode, truncate } = backend;
  if (!MODES.includes(mode)) yield `invalid audit ${name} mode ${mode}, allowed modes are ${JSON.stringify(MODES.join(','))}`;
  if (mode === 'batch') yield* validateBatch(backend);
  if (truncate.maxEventSize <= 0) yield `invalid audit truncate ${name} max event size ${truncate.maxEventSize}, must be a positive number`;
  else if (truncate.maxBatchSize < truncate.maxEventSize) {
    yield `invalid audit truncate ${name} max batch size ${truncate.maxBatchSize}, must be greater than max event size (${truncate.maxEventSize})`;
  }
  if (backend.version !== VERSION) yield `invalid group version, allowed versions are [${JSON.stringify(VERSION)}]`;
}

function* validateBatch({ name, batch }: Backend): Generator<string> {
  if (batch.bufferSize <= 0) yield `invalid audit batch ${name} buffer size ${batch.bufferSize}, must be a positive number`;
  if (batch.maxSize <= 0) yield `invalid audit batch ${name} max batch size ${batch.maxSize}, must be a positive number`;
  if (!batch.isThrottled) return;
  if (batch.throttleQps <= 0) yield `invalid audit batch ${name} throttle QPS ${batch.throttleQps}, must be a positive number`;
  if (batch.throttleBurst <= 0) yield `invalid audit batch ${name} throttle burst ${batch.throttleBurst}, must be a positive number`;
}

function* validateLogFile({ auditLogFormat, auditLogMaxage, auditLogMaxbackup, auditLogMaxsize }: Draft): Generator<string> {
  if (!FORMATS.includes(auditLogFormat)) yield `invalid audit log format ${auditLogFormat}, allowed formats are ${JSON.stringify(FORMATS.join(','))}`;
  for (const [flag, value] of Object.entries({ maxage: auditLogMaxage, maxbackup: auditLogMaxbackup, maxsize: auditLogMaxsize })) {
    if (value < 0) yield `--audit-log-${flag} ${value} can't be a negative number`;
  }
}
