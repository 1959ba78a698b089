import { countWeakCertificates } from '../serving/weak-certificates.ts';
import { createAuditor } from '../audit/auditor.ts';
import { type AuditBackend, type AuditObserver, ignoringErrors, unionOfBackends } from '../audit/backend.ts';
import { BatchingBackend, type BatchOptions } from '../audit/batching.ts';
import { legacyLine } from '../audit/legacy-line.ts';
import { type LineWriter, type LogFormat, logBackend, openLog } from '../audit/log-backend.ts';
import { loadPolicy } from '../audit/policy-file.ts';
import { type TruncateOptions, truncating } from '../audit/truncating.ts';
import { webhookBackend } from '../audit/webhook-backend.ts';
import { loadKubeconfig } from '../client/kubeconfig.ts';
import { WebhookClient } from '../client/webhook-client.ts';
import type { AuditOptions } from '../server/filters/audit.ts';
import type { AuditCounters } from '../server/metrics/audit-metrics.ts';
import type { WorkerLink } from '../workers/worker-link.ts';
import type { Foundation } from './foundation.ts';
import { orRefuse } from '../options/command-error.ts';
import type { CompletedOptions } from '../options/completion.ts';
import type { Logger } from './logger.ts';

/** Auditing as the flags want it, its files read. */
export interface Auditing {
  /** For the filters. Called once, when it is known where to count. */
  start(counters: AuditCounters): AuditOptions;
  /** Resolves when every event is where it should be. */
  close(): Promise<void>;
}

/** How one of the two backends is to be used. */
interface BackendOptions {
  mode: string;
  batch: BatchOptions;
  truncate: TruncateOptions | undefined;
}

const MEGABYTE = 1024 * 1024;
const MAX_BATCHES_IN_FLIGHT = 100;

/** Undefined where no flag wants anything recorded. Throws CommandError where the policy, the log or the webhook cannot be used. */
export async function openAuditing({ options, logger, registry, egress, worker }: Foundation): Promise<Auditing | undefined> {
  const dial = egress?.controlplane;
  const onWeakCertificate = countWeakCertificates(registry, 'webhooks', (message) => logger.info(message));
  const { auditPolicyFile, auditLogPath, auditWebhookConfigFile } = options;
  const policy =
    auditPolicyFile === '' ? undefined : await orRefuse('loading audit policy file', () => loadPolicy(auditPolicyFile, (message) => logger.warn(message)));
  const writer = auditLogPath === '' ? undefined : worker ? writerOf(worker) : await openAuditLog(options);
  const receiver =
    auditWebhookConfigFile === '' || policy === undefined
      ? undefined
      : await orRefuse('initializing audit webhook', async () => new WebhookClient(await loadKubeconfig(auditWebhookConfigFile), { dial, onWeakCertificate }));
  if (policy === undefined || (writer === undefined && receiver === undefined)) {
    if (writer !== undefined) logger.verbose(2, 'No audit policy file provided, no events will be recorded for log backend');
    if (auditWebhookConfigFile !== '') logger.verbose(2, 'No audit policy file provided, no events will be recorded for webhook backend');
    await writer?.close();
    return undefined;
  }
  let backend: AuditBackend | undefined;
  return {
    start(counters) {
      const observer = observerOf(counters, logger);
      backend = unionOfBackends([
        ...(writer ? [wrapped(logBackend(writer, options.auditLogFormat as LogFormat, observer), logOptions(options), observer)] : []),
        ...(receiver ? [wrapped(webhookBackend(receiver, { initialBackoffMs: initialBackoffMs(options) }, observer), webhookOptions(options), observer)] : []),
      ]);
      return { auditor: createAuditor(policy, backend, observer), onRejected: counters.countRejected };
    },
    close: async () => backend?.close(),
  };
}

/** The name of the flag that was there first still counts, where the other was not used. */
const initialBackoffMs = ({ auditWebhookInitialBackoffMs: current, auditWebhookBatchInitialBackoffMs: old }: CompletedOptions): number => {
  const DEFAULT_MS = 10_000;
  return current === DEFAULT_MS ? old : current;
};

/** The log has one writer, whatever the number of workers. Throws CommandError where it cannot be written to. */
export const openAuditLog = (options: CompletedOptions): Promise<LineWriter> =>
  orRefuse('ensureLogFile', () =>
    openLog(options.auditLogPath, {
      maxBytes: options.auditLogMaxsize === 0 ? Infinity : options.auditLogMaxsize * MEGABYTE,
      maxAgeDays: options.auditLogMaxage,
      maxBackups: options.auditLogMaxbackup,
      compresses: options.auditLogCompress,
    }),
  );

const writerOf = (worker: WorkerLink): LineWriter => ({
  write: (line) => worker.writeAudit(line),
  close: async () => undefined,
});

/** The order is upstream's: events are cut before they wait. */
function wrapped(backend: AuditBackend, { mode, batch, truncate }: BackendOptions, observer: AuditObserver): AuditBackend {
  const timed = mode === 'batch' ? new BatchingBackend(backend, batch, observer) : mode === 'blocking' ? ignoringErrors(backend) : backend;
  return truncate ? truncating(timed, truncate, observer) : timed;
}

const logOptions = (options: CompletedOptions): BackendOptions => ({
  mode: options.auditLogMode,
  batch: {
    bufferSize: options.auditLogBatchBufferSize,
    maxBatchSize: options.auditLogBatchMaxSize,
    maxWaitMs: options.auditLogBatchMaxWaitMs,
    throttle: options.auditLogBatchThrottleEnable ? { perSecond: options.auditLogBatchThrottleQps, burst: options.auditLogBatchThrottleBurst } : undefined,
    maxInFlight: 1,
  },
  truncate: options.auditLogTruncateEnabled
    ? { maxEventBytes: options.auditLogTruncateMaxEventSize, maxBatchBytes: options.auditLogTruncateMaxBatchSize }
    : undefined,
});

const webhookOptions = (options: CompletedOptions): BackendOptions => ({
  mode: options.auditWebhookMode,
  batch: {
    bufferSize: options.auditWebhookBatchBufferSize,
    maxBatchSize: options.auditWebhookBatchMaxSize,
    maxWaitMs: options.auditWebhookBatchMaxWaitMs,
    throttle: options.auditWebhookBatchThrottleEnable
      ? { perSecond: options.auditWebhookBatchThrottleQps, burst: options.auditWebhookBatchThrottleBurst }
      : undefined,
    maxInFlight: MAX_BATCHES_IN_FLIGHT,
  },
  truncate: options.auditWebhookTruncateEnabled
    ? { maxEventBytes: options.auditWebhookTruncateMaxEventSize, maxBatchBytes: options.auditWebhookTruncateMaxBatchSize }
    : undefined,
});

const MAX_SHOWN_EVENTS = 100;

/** What is lost is at least in the log, on one line each, without objects. */
const observerOf = (counters: AuditCounters, logger: Logger): AuditObserver => ({
  onLevel: counters.countLevel,
  onEvent: counters.countEvent,
  onError(plugin, error, events) {
    counters.countErrors(plugin, events.length);
    const impacted = events.slice(0, MAX_SHOWN_EVENTS).map((event) => legacyLine(event).trimEnd());
    logger.error(`Error in audit plugin '${plugin}' affecting ${events.length} audit events`, { error, impacted: impacted.join('\n') });
  },
});
