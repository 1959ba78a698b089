/** Headers of requests of which only the first line counts, as it does for Node and Go. */
const SINGLE_FIELDS = new Set([
  'age',
  'authorization',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
]);

/** The value of a request's header that has another line. */
export function withLine(name: string, before: string, line: string): string {
  if (SINGLE_FIELDS.has(name)) return before;
  return `${before}${name === 'cookie' ? '; ' : ', '}${line}`;
}
