import { quote } from '../../util/go-quote.ts';
import type { Auditor, RequestAudit } from '../auditor.ts';
import type { IncomingRequest } from '../server-request.ts';
import { sanitize } from './authorization.ts';
import type { Filter, RequestHandler } from './filter.ts';
import { asApiError, writeTextError } from './write-error.ts';

export interface AuditOptions {
  auditor: Auditor;
  /** Counts requests that were refused because it could not be stored that they came. */
  onRejected: () => void;
}

/** Records what happens to a request (apiserver/pkg/endpoints/filters/audit.go). In front of impersonation: it sees who really asks. */
export function withAudit({ auditor, onRejected }: AuditOptions): Filter {
  const goOn = (next: RequestHandler, request: IncomingRequest, audit: RequestAudit, isStored: boolean): Promise<void> | void => {
    // Its deadline has passed while the event was on its way.
    if (request.exchange.isAnswered) return void audit.answering(request.exchange.status, true);
    if (!isStored) {
      onRejected();
      return writeTextError(request, 500, sanitize(`Internal Server Error: ${quote(request.exchange.target)}: failed to store audit event`));
    }
    follow(request, audit);
    request.onFinish(finish);
    return watchForFaults(next, request, audit);
  };
  const goOnLater = async (next: RequestHandler, request: IncomingRequest, audit: RequestAudit, stored: Promise<boolean>): Promise<void> =>
    goOn(next, request, audit, await stored);
  return (next) => (request) => {
    const audit = auditor.admitted(request);
    request.isAudited = audit !== undefined;
    if (audit === undefined) return next(request);
    const stored = audit.received();
    return stored instanceof Promise ? goOnLater(next, request, audit, stored) : goOn(next, request, audit, stored);
  };
}

/** For filters that refuse a request before it is known who asks: the refusal is recorded when it is answered. */
export function auditRefusal(auditor: Auditor, request: IncomingRequest): void {
  const audit = auditor.refused(request);
  if (audit !== undefined) follow(request, audit);
}

const finish = (request: IncomingRequest): void => request.audit?.finished();

function follow(request: IncomingRequest, audit: RequestAudit): void {
  request.audit = audit;
  const { exchange } = request;
  exchange.beforeAnswer = (isWhole) => {
    const pending = audit.answering(exchange.status, isWhole);
    return pending && beforeDeadline(request, pending);
  };
}

/** A blocking webhook may hold an answer up, but not for longer than the request may take. */
async function beforeDeadline({ deadlineMs }: IncomingRequest, pending: Promise<void>): Promise<void> {
  if (deadlineMs === undefined) return pending;
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => void (timer = setTimeout(resolve, deadlineMs - performance.now())));
  await Promise.race([pending, deadline]);
  clearTimeout(timer);
}

function watchForFaults(next: RequestHandler, request: IncomingRequest, audit: RequestAudit): Promise<void> | void {
  const note = (error: unknown): never => {
    if (isFault(error)) audit.failed(error);
    throw error;
  };
  try {
    return next(request)?.catch(note);
  } catch (error) {
    note(error);
  }
}

/** What nobody has made an answer of: a panic, in upstream's words. */
function isFault(error: unknown): boolean {
  const answer = asApiError(error, '');
  return answer !== error && answer.code === 500;
}
