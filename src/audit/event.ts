import type { StatusDetails } from '../api/errors.ts';
import type { User } from '../api/user.ts';

/** How much is recorded, from least to most (audit.k8s.io/v1 Level). */
export const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof LEVELS)[number];

/** The moments at which an event may be made (audit.k8s.io/v1 Stage). */
export const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof STAGES)[number];

const RANKS: Readonly<Record<AuditLevel, number>> = { None: 0, Metadata: 1, Request: 2, RequestResponse: 3 };

export const isAtLeast = (level: AuditLevel, least: AuditLevel): boolean => RANKS[level] >= RANKS[least];

/** What a request is about. What is empty is left out of the event. */
export interface ObjectReference {
  resource: string;
  namespace: string;
  name: string;
  uid: string;
  apiGroup: string;
  apiVersion: string;
  resourceVersion: string;
  subresource: string;
}

/** The fields of a Status that events show. */
export interface EventStatus {
  status?: string;
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

/** A request at one stage (audit.k8s.io/v1 Event). What it tells never changes: backends may keep it as long as they like. */
export interface AuditEvent {
  readonly level: AuditLevel;
  readonly auditId: string;
  readonly stage: Stage;
  readonly requestUri: string;
  readonly verb: string;
  /** Absent where authentication failed. */
  readonly user: User | undefined;
  readonly impersonatedUser: User | undefined;
  /** The right that allowed it, where it was not the old one (KEP-5284). */
  readonly impersonationConstraint: string;
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
  readonly objectRef: ObjectReference | undefined;
  readonly responseStatus: EventStatus | undefined;
  /** JSON. */
  readonly requestObject: string | undefined;
  /** JSON, in pieces: a list may have ten megabytes, which nobody makes one buffer of. */
  readonly responseObject: readonly Buffer[] | undefined;
  /** As meta/v1 MicroTime is written. */
  readonly receivedAt: string;
  readonly stageAt: string;
  readonly annotations: ReadonlyMap<string, string>;
  /** Where the encoder keeps what it made: its size, the log and the webhook each ask for it. A map beside it would cost more than the encoding. */
  encoded: string | undefined;
}

/** What the objects of an event take, which is nearly all of a large one. */
export const objectBytesOf = ({ requestObject, responseObject }: AuditEvent): number => (requestObject?.length ?? 0) + bytesOf(responseObject ?? []);

export const bytesOf = (pieces: readonly Buffer[]): number => pieces.reduce((bytes, piece) => bytes + piece.length, 0);
