import { type HeaderFields, lastValue } from '../http2/hpack.ts';

/** gRPC's status codes that are told apart here (grpc/status.proto); all others are carried as their number. */
export const GrpcCode = {
  ok: 0,
  canceled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

const CODE_NAMES = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
];

/** `Unavailable`: as grpc-go prints codes. */
export const codeName = (code: number): string => CODE_NAMES[code] ?? `Code(${code})`;

/** A call that ended with another status than OK. The message reads as grpc-go's errors do: operators know them. */
export class GrpcError extends Error {
  readonly code: number;
  /** What the server said, or what went wrong on the way to it. */
  readonly details: string;
  /** The server has certainly not seen the call. */
  readonly wasNotSent: boolean;

  constructor(code: number, details: string, wasNotSent = false) {
    super(`rpc error: code = ${codeName(code)} desc = ${details}`);
    this.code = code;
    this.details = details;
    this.wasNotSent = wasNotSent;
  }
}

/** How upstream's metrics name the outcome of a call, wherever among the causes of its failure a status is. */
export function codeNameOf(error: Error | undefined): string {
  if (error === undefined) return codeName(GrpcCode.ok);
  if (error instanceof GrpcError) return codeName(error.code);
  return error.cause instanceof Error ? codeNameOf(error.cause) : 'unknown-non-grpc';
}

/** What an answer without a gRPC status means (grpc/doc/http-grpc-status-mapping.md). */
const CODE_OF_HTTP_STATUS: Readonly<Record<number, number>> = { 400: 13, 401: 16, 403: 7, 404: 12, 429: 14, 502: 14, 503: 14, 504: 14 };

/** Errors end in logs and in answers to clients. */
const MAX_DETAILS_CHARACTERS = 4096;

/** The status that headers or trailers carry; undefined when they carry none. */
export function statusOf(fields: HeaderFields): { code: number; details: string } | undefined {
  const status = lastValue(fields, 'grpc-status');
  if (status === undefined) return undefined;
  const code = Number(status);
  const details = (lastValue(fields, 'grpc-message') ?? '').slice(0, MAX_DETAILS_CHARACTERS);
  return { code: Number.isInteger(code) ? code : GrpcCode.unknown, details: percentDecoded(details) };
}

/** The error of an HTTP answer that is not gRPC's 200; undefined for that. */
export function errorOfHttpStatus(fields: HeaderFields): GrpcError | undefined {
  const status = Number(lastValue(fields, ':status'));
  if (status === 200) return undefined;
  return new GrpcError(CODE_OF_HTTP_STATUS[status] ?? GrpcCode.unknown, `unexpected HTTP status code received from server: ${status}`);
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
