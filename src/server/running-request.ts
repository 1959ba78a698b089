import { createHash } from 'node:crypto';
import type { IncomingRequest } from './server-request.ts';

/** The request that the thread is at work for, as a report of a stall names it. What is not known yet is empty. */
export interface RunningRequest {
  user: string;
  verb: string;
  /** Group, version, resource and subresource as one path; the URL's path where it names no resource. */
  resource: string;
  namespace: string;
  name: string;
  auditId: string;
  /** See `fingerprintOf`. */
  fingerprint: string;
}

/** Names a request by what a client would send to repeat it: its user, method, target and body, as far as they are known by now. Tells nothing of them. */
export const fingerprintOf = ({ user, exchange, knownBody }: Pick<IncomingRequest, 'user' | 'exchange' | 'knownBody'>): string =>
  hashOf(JSON.stringify([user.name, exchange.method, exchange.target, knownBody === undefined ? '' : hashOf(knownBody)]));

const hashOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');
