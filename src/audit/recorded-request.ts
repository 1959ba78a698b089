import type { RequestAudit } from '../server/auditor.ts';
import type { IncomingRequest } from '../server/server-request.ts';
import type { ObjectMeta } from '../api/api-object.ts';
import { formatDuration } from '../util/duration.ts';
import type { Status } from '../api/errors.ts';
import { stringifyJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import type { User } from '../api/user.ts';
import { type AuditBackend, type AuditObserver, inTurn } from './backend.ts';
import { type AuditEvent, type EventStatus, type ObjectReference, type Stage, isAtLeast } from './event.ts';
import type { MicroClock } from './micro-clock.ts';
import { patchAsJson, withoutManagedFields, withoutManagedFieldsOf } from './objects.ts';
import type { RequestAuditConfig } from './policy.ts';
import { sourceIps } from './source-ips.ts';

export interface RecordParts {
  request: IncomingRequest;
  /** Undefined where it is not known who asks. */
  user: User | undefined;
  decision: RequestAuditConfig;
  backend: AuditBackend;
  observer: AuditObserver;
  clock: MicroClock;
}

const MAX_USER_AGENT_CHARACTERS = 1024;
/** Slower requests say how slow they were. */
const SLOW_MS = 500;
const LATENCY_PREFIX = 'apiserver.latency.k8s.io/';

/**
 * One request's way through the stages, each of which is an event unless the policy leaves it out.
 *
 *     admitted:  RequestReceived → (ResponseStarted, of long-running ones) → ResponseComplete | Panic
 *     refused:   ResponseStarted alone
 */
export class RecordedRequest implements RequestAudit {
  readonly #request: IncomingRequest;
  readonly #user: User | undefined;
  readonly #decision: RequestAuditConfig;
  readonly #parts: Pick<RecordParts, 'backend' | 'observer' | 'clock'>;
  readonly #sourceIps: readonly string[];
  readonly #userAgent: string;
  readonly #receivedAt: string;
  #impersonatedUser: User | undefined;
  #impersonationConstraint = '';
  #objectRef: ObjectReference | undefined;
  #responseStatus: EventStatus | undefined;
  #requestObject: string | undefined;
  #responseObject: readonly Buffer[] | undefined;
  #isOver = false;

  constructor({ request, user, decision, ...parts }: RecordParts) {
    this.#request = request;
    this.#user = user;
    this.#decision = decision;
    this.#parts = parts;
    this.#sourceIps = sourceIps(request.exchange);
    this.#userAgent = shortened(request.userAgent);
    this.#receivedAt = parts.clock.format(request.receivedAtMs);
    this.#objectRef = referenceOf(request);
  }

  get keepsRequest(): boolean {
    return isAtLeast(this.#decision.level, 'Request');
  }

  received(): boolean | Promise<boolean> {
    return this.#process('RequestReceived', this.#receivedAt);
  }

  impersonated(user: User, constraint: string): void {
    this.#impersonatedUser = user;
    this.#impersonationConstraint = constraint;
  }

  requestObject(metadata: ObjectMeta | undefined, shown: () => JsonObject): void {
    const reference = this.#objectRef;
    if (metadata && reference) {
      const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata;
      this.#objectRef = {
        ...reference,
        namespace: reference.namespace || namespace,
        name: reference.name || name,
        uid: reference.uid || uid,
        resourceVersion: reference.resourceVersion || resourceVersion,
      };
    }
    if (!this.keepsRequest) return;
    const object = shown();
    this.#requestObject = stringifyJson(this.#decision.omitManagedFields ? withoutManagedFields(object) : object);
  }

  requestPatch(patch: Buffer): Promise<void> | void {
    if (!this.keepsRequest) return;
    const shown = patchAsJson(patch);
    if (shown instanceof Promise) return shown.then((text) => void (this.#requestObject = text));
    this.#requestObject = shown;
  }

  responseStatus({ status, message, reason, details, code }: Status): void {
    this.#responseStatus = {
      ...(status && { status }),
      ...(message && { message }),
      ...(reason && { reason }),
      ...(details && { details }),
      ...(code && { code }),
    };
  }

  get keepsResponse(): boolean {
    return isAtLeast(this.#decision.level, 'RequestResponse');
  }

  responseObject(json: readonly Buffer[]): Promise<void> | void {
    if (!this.keepsResponse) return;
    const shown = this.#decision.omitManagedFields ? withoutManagedFieldsOf(json) : json;
    if (shown instanceof Promise) return shown.then((pieces) => void (this.#responseObject = pieces));
    this.#responseObject = shown;
  }

  answering(code: number, isWhole: boolean): void | Promise<void> {
    if (this.#isOver) return;
    this.#responseStatus = { ...this.#responseStatus, code };
    const isRefused = this.#user === undefined;
    const { isLongRunning } = this.#request;
    this.#isOver = isWhole;
    const stored = inTurn([
      ...(isRefused || isLongRunning ? [() => this.#process('ResponseStarted')] : []),
      ...(isWhole && !isRefused ? [() => this.#complete()] : []),
    ]);
    if (stored instanceof Promise) return stored.then(() => undefined);
  }

  finished(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#responseStatus?.code === undefined) {
      // The words are upstream's, although nobody was answered.
      this.#responseStatus = { status: 'Success', message: 'Connection closed early', code: 200 };
      if (this.#request.isLongRunning) void this.#process('ResponseStarted');
    }
    void this.#complete();
  }

  failed(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const message = `APIServer panic'd: ${error instanceof Error ? error.message : String(error)}`;
    this.#responseStatus = { status: 'Failure', message, reason: 'InternalError', code: 500 };
    void this.#process('Panic');
  }

  #complete(): boolean | Promise<boolean> {
    const latencyMs = performance.now() - this.#request.receivedAtMs;
    if (latencyMs > SLOW_MS) this.#annotateLatencies(latencyMs);
    return this.#process('ResponseComplete');
  }

  /** Nobody times the parts of a watch (endpoints/filters/webhook_duration.go); the whole is told with its parts, or not at all. */
  #annotateLatencies(totalMs: number): void {
    const { latencies, exchange, info } = this.#request;
    const parts = [...latencies, ['response-write', exchange.writeMs] as const].filter(([, durationMs]) => durationMs > 0);
    if (info.verb === 'watch' || parts.length === 0) return;
    for (const [part, durationMs] of [...parts, ['total', totalMs] as const]) this.#request.annotateAudit(LATENCY_PREFIX + part, formatDuration(durationMs));
  }

  #process(stage: Stage, at?: string): boolean | Promise<boolean> {
    if (this.#decision.omitStages.has(stage)) return true;
    const { backend, observer, clock } = this.#parts;
    observer.onEvent();
    return backend.process([this.#eventAt(stage, at ?? clock.format(performance.now()))]);
  }

  #eventAt(stage: Stage, stageAt: string): AuditEvent {
    const { auditId, exchange, info, auditAnnotations } = this.#request;
    return {
      level: this.#decision.level,
      auditId,
      stage,
      requestUri: exchange.target,
      verb: info.verb,
      user: this.#user,
      impersonatedUser: this.#impersonatedUser,
      impersonationConstraint: this.#impersonationConstraint,
      sourceIps: this.#sourceIps,
      userAgent: this.#userAgent,
      objectRef: this.#objectRef,
      responseStatus: this.#responseStatus,
      requestObject: this.#requestObject,
      responseObject: this.#responseObject,
      receivedAt: this.#receivedAt,
      stageAt,
      annotations: new Map(auditAnnotations),
      encoded: undefined,
    };
  }
}

const shortened = (userAgent: string): string =>
  userAgent.length > MAX_USER_AGENT_CHARACTERS ? `${userAgent.slice(0, MAX_USER_AGENT_CHARACTERS)}...TRUNCATED` : userAgent;

function referenceOf({ info }: IncomingRequest): ObjectReference | undefined {
  if (!info.isResourceRequest) return undefined;
  const { resource, namespace, name, apiGroup, apiVersion, subresource } = info;
  return { resource, namespace, name, uid: '', apiGroup, apiVersion, resourceVersion: '', subresource };
}
