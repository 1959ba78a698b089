import { ErrorCode, Http2Error } from './frames.ts';

export type HeaderField = readonly [name: string, value: string];

/** RFC 7541 Appendix A, from index 1 on. */
export const STATIC_TABLE: readonly HeaderField[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ...[
    'accept-charset',
    'accept-encoding',
    'accept-language',
    'accept-ranges',
    'accept',
    'access-control-allow-origin',
    'age',
    'allow',
    'authorization',
    'cache-control',
    'content-disposition',
    'content-encoding',
    'content-language',
    'content-length',
    'content-location',
    'content-range',
    'content-type',
    'cookie',
    'date',
    'etag',
    'expect',
    'expires',
    'from',
    'host',
    'if-match',
    'if-modified-since',
    'if-none-match',
    'if-range',
    'if-unmodified-since',
    'last-modified',
    'link',
    'location',
    'max-forwards',
    'proxy-authenticate',
    'proxy-authorization',
    'range',
    'referer',
    'refresh',
    'retry-after',
    'server',
    'set-cookie',
    'strict-transport-security',
    'transfer-encoding',
    'user-agent',
    'vary',
    'via',
    'www-authenticate',
  ].map((name) => [name, name === 'accept-encoding' ? 'gzip, deflate' : ''] as const),
];

/** What a field takes in a table and in a list, beside its text (RFC 7541 §4.1, RFC 9113 §6.5.2). */
export const FIELD_OVERHEAD_BYTES = 32;

/** The fields that a peer may name by number: those that everyone knows, and behind them those of before that were worth remembering, the newest first. */
export class HeaderTable {
  readonly #maxBytes: number;
  /** What the peer uses of that. */
  #allowedBytes: number;
  #sizeBytes = 0;
  /** The oldest first; those before `#start` are gone. */
  #fields: (HeaderField | undefined)[] = [];
  #start = 0;

  /** Without bytes, nothing is remembered, and what a block says does not depend on those before it. */
  constructor(maxBytes: number) {
    this.#maxBytes = this.#allowedBytes = maxBytes;
  }

  /** Throws where there is none. */
  get(index: number): HeaderField {
    const field = index <= STATIC_TABLE.length ? STATIC_TABLE[index - 1] : this.#fields[this.#fields.length + STATIC_TABLE.length - index];
    if (!field) throw new Http2Error(`header ${index} of a table that there is not`, ErrorCode.compressionError);
    return field;
  }

  add(field: HeaderField): void {
    this.#fields.push(field);
    this.#sizeBytes += sizeOf(field);
    this.#shrink();
  }

  /** Throws where that is more than was allowed. */
  resize(sizeBytes: number): void {
    if (sizeBytes > this.#maxBytes) throw new Http2Error('a table of headers that was forbidden', ErrorCode.compressionError);
    this.#allowedBytes = sizeBytes;
    this.#shrink();
  }

  #shrink(): void {
    while (this.#sizeBytes > this.#allowedBytes) {
      this.#sizeBytes -= sizeOf(this.#fields[this.#start]!);
      this.#fields[this.#start++] = undefined;
    }
    if (this.#start < MAX_GONE_FIELDS) return;
    this.#fields = this.#fields.slice(this.#start);
    this.#start = 0;
  }
}

/** Empty places, before the others are moved. */
const MAX_GONE_FIELDS = 256;

const sizeOf = ([name, value]: HeaderField): number => name.length + value.length + FIELD_OVERHEAD_BYTES;
