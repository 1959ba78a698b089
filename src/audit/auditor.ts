import type { Auditor, RequestAudit } from '../server/auditor.ts';
import type { IncomingRequest } from '../server/server-request.ts';
import type { User } from '../api/user.ts';
import type { AuditBackend, AuditObserver } from './backend.ts';
import { MicroClock } from './micro-clock.ts';
import { type AuditPolicy, compilePolicy } from './policy.ts';
import { RecordedRequest, type RecordParts } from './recorded-request.ts';

/** Records what the policy wants recorded. */
export function createAuditor(policy: AuditPolicy, backend: AuditBackend, observer: AuditObserver): Auditor {
  const decide = compilePolicy(policy);
  const clock = new MicroClock();
  const record = (request: IncomingRequest, user: User | undefined): RequestAudit | undefined => {
    const decision = decide(request.info, user);
    observer.onLevel(decision.level);
    if (decision.level === 'None') return undefined;
    const parts: RecordParts = { request, user, decision, backend, observer, clock };
    return new RecordedRequest(parts);
  };
  return {
    admitted: (request) => record(request, request.user),
    refused: (request) => record(request, undefined),
  };
}
