import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeMissingFiles } from '../compose/generated-files.ts';
import { openAuditLog } from '../compose/audit.ts';
import type { Logger } from '../compose/logger.ts';
import { openSecurePort } from '../compose/serving-files.ts';
import { openServiceAccountKeys } from '../compose/signing-keys.ts';
import { explainError } from '../compose/start.ts';
import { openOwnStore, registerStoreFile } from '../compose/storage.ts';
import { MetricRegistry } from '../metrics/registry.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { openMetricSelection } from '../options/metric-selection.ts';
import { registerProcessMetrics } from '../server/metrics/process-metrics.ts';
import { registerRuntimeMetrics } from '../server/metrics/runtime-metrics.ts';
import { startEtcdServer } from '../storage/etcd-server/server.ts';
import { onAbort } from '../util/on-abort.ts';
import { Primary, type PrimaryObserver, WorkerFailed } from '../workers/primary.ts';
import { RevisionFile } from '../workers/revision-file.ts';
import { ExitCode } from './exit-code.ts';
import { collectAlone, collectSeldom } from './garbage-collection.ts';
import { giveBackWhenIdle } from './idle-memory.ts';

const MIB = 1024 * 1024;
/** Workers go on from where they were after a pause, and read pages of lists as of their first one. */
const HISTORY = { minEvents: 1_000, maxEvents: Infinity, maxBytes: 64 * MIB };

interface RunWorkersSettings {
  logger: Logger;
  /** Called once all workers are ready. */
  onReady: (url: string) => void;
  stopSignal: AbortSignal;
}

/**
 * `--workers`: this process keeps the store and the workers, which share its port, and serves no requests itself. Runs until it is told to stop; SIGHUP replaces
 * the workers one after the other.
 */
export async function runWorkers(options: CompletedOptions, { logger, onReady, stopSignal }: RunWorkersSettings): Promise<void> {
  makeMissingFiles(options);
  // Made here, so that no two workers make one.
  if (options.serviceAccountSigningEndpoint === '') await openServiceAccountKeys(options, stopSignal)();
  const explained = (error: unknown): never => {
    throw explainError(error, options);
  };
  const registry = new MetricRegistry(await openMetricSelection(options));
  registerProcessMetrics(registry);
  const runtime = registerRuntimeMetrics(registry);
  const auditLog = options.auditLogPath === '' ? undefined : await openAuditLog(options);
  const port = await openSecurePort(options, true).catch(explained);
  const store = await serveStore(options, logger, registry).catch(explained);
  const primary = new Primary({
    count: options.workerCount,
    storeUrl: store?.url,
    revisionPath: store?.revisionPath,
    port,
    limits: {
      stallReportAfterMs: options.stallReportAfterMs,
      stallKillAfterMs: options.stallKillAfterMs,
      memoryLimitBytes: options.memoryLimitMib * MIB,
    },
    nodeFlags: options.heapLimitMib > 0 ? [`--max-old-space-size=${options.heapLimitMib}`] : [],
    observer: logTo(logger),
    metrics: registry,
    writeAudit: (line) => auditLog?.write(line),
  });
  const restart = (): void =>
    void primary.restartAll().then(
      () => logger.info('All workers were replaced'),
      (error: Error) => logger.error('The workers were not replaced', { error }),
    );
  process.on('SIGHUP', restart);
  const stopped = new Promise<void>((resolve) => onAbort(stopSignal, resolve));
  try {
    const url = await Promise.race([primary.start(), stopped]);
    if (url !== undefined) onReady(url);
    collectAlone();
    collectSeldom();
    giveBackWhenIdle();
    await Promise.race([stopped, primary.failed]);
    logger.info('Shutting down');
  } catch (error) {
    throw error instanceof WorkerFailed ? new ExitCode(error.code) : error;
  } finally {
    process.off('SIGHUP', restart);
    runtime.stop();
    await primary.stop('SIGTERM');
    await Promise.all([store?.close(), auditLog?.close()]);
    logger.info('Stopped');
  }
}

interface ServedStore {
  url: string;
  revisionPath: string;
  close(): Promise<void>;
}

/** On a socket that only this user reaches. Undefined where the store is an etcd. */
async function serveStore(options: CompletedOptions, logger: Logger, registry: MetricRegistry): Promise<ServedStore | undefined> {
  const engine = await openOwnStore(options, { history: HISTORY });
  if (!engine) return undefined;
  if (options.storageBackend === 'embedded') registerStoreFile(registry, engine);
  const folder = await mkdtemp(join(tmpdir(), 'binnacle-'));
  const revisionPath = join(folder, 'revision');
  const revision = await engine.currentRevision();
  const revisionFile = new RevisionFile(revisionPath, revision);
  // A store of one process delivers changes before it answers those who made them.
  engine.watch('', revision + 1, (events) => revisionFile.write(events.at(-1)!.revision));
  const server = await startEtcdServer({
    engine,
    listenUrls: [`unix://${join(folder, 'store.sock')}`],
    maxRequestBytes: Infinity,
    onViolation: (message) => logger.error('A worker was cut off from the store', { message }),
  });
  return {
    url: server.urls[0]!,
    revisionPath,
    async close() {
      await server.close();
      await engine.close();
      revisionFile.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const logTo = (logger: Logger): PrimaryObserver => ({
  onStall: (worker, { stalledMs, stack, request }) =>
    logger.error('The event loop of a worker stands still', { worker, stalledMs, ...request, stack: stack.join('\n') }),
  onRecovery: (worker, stalledMs) => logger.info('The event loop of the worker turns again', { worker, stalledMs }),
  onRestart: (worker, { code, signal, killedFor }, delayMs) =>
    logger.error('A worker died and is replaced', { worker, code, signal, killedFor: killedFor ?? 'nothing of the primary', delayMs }),
});
