import type { AuditRecorder } from '../endpoints/request.ts';
import type { User } from '../api/user.ts';
import type { IncomingRequest } from './server-request.ts';

/** Decides what is recorded of requests. `src/audit/auditor.ts` is one; a server that records nothing has none. */
export interface Auditor {
  /** For a request of which it is known who asks. Undefined: nothing of it is recorded. */
  admitted(request: IncomingRequest): RequestAudit | undefined;
  /** For one that is refused before that is known. */
  refused(request: IncomingRequest): RequestAudit | undefined;
}

/** One request, as it is recorded. What is told too late, after the answer is complete, is ignored. */
export interface RequestAudit extends AuditRecorder {
  /** The level is `Request` or higher: what the request holds is recorded too. */
  readonly keepsRequest: boolean;
  /** False: it could not be stored that the request came, and so it must be refused. Never rejects. */
  received(): boolean | Promise<boolean>;
  /** The request goes on as this user. `constraint` is the right that allowed it; '' is the old one, to impersonate without constraint. */
  impersonated(user: User, constraint: string): void;
  /** The answer is about to leave: all of it, or its beginning. It should wait for what is promised. Never rejects. */
  answering(code: number, isWhole: boolean): void | Promise<void>;
  /** The request is over: its answer is complete, or the client went without one. */
  finished(): void;
  /** The request broke by a fault of ours. */
  failed(error: unknown): void;
}
