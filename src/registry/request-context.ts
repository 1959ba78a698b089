import type { User } from '../util/user.ts';

/** What the layers below the endpoints know of the request they work for. Controllers inside the process make their own. */
export interface RequestContext {
  user: User;
  userAgent: string;
  /** Shown to the client in a `Warning: 299` header; equal texts once. */
  warn(text: string): void;
  /** Recorded with the request's audit event. */
  annotateAudit(key: string, value: string): void;
  /** Aborted when the client has gone or the deadline has passed. */
  signal: AbortSignal | undefined;
}
