import { type Regexp, compileRegexp } from '../../re2/regexp.ts';
import type { Filter } from './filter.ts';

const ALLOWED_METHODS = 'POST, GET, OPTIONS, PUT, DELETE, PATCH';
const ALLOWED_HEADERS = 'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since';
const EXPOSED_HEADERS = 'Date';
/** No origin is longer; the operator's expressions are not run on what is. */
const MAX_ORIGIN_CHARACTERS = 2048;

/** `--cors-allowed-origins`: the operator's regular expressions, any of which may match anywhere in the Origin header. Throws for one that is none. */
export function withCors(allowedOriginPatterns: readonly string[]): Filter {
  const patterns = allowedOriginPatterns.map(compile);
  return (next) => (request) => {
    const { origin } = request.exchange.headers;
    if (origin === undefined || origin === '' || origin.length > MAX_ORIGIN_CHARACTERS || !patterns.some((pattern) => pattern.test(origin)))
      return next(request);
    const { responseHeaders } = request;
    responseHeaders['access-control-allow-origin'] = origin;
    responseHeaders['access-control-allow-methods'] = ALLOWED_METHODS;
    responseHeaders['access-control-allow-headers'] = ALLOWED_HEADERS;
    responseHeaders['access-control-expose-headers'] = EXPOSED_HEADERS;
    responseHeaders['access-control-allow-credentials'] = 'true';
    if (request.exchange.method !== 'OPTIONS') return next(request);
    request.exchange.respond(204, {});
  };
}

/** The Origin is anybody's text, and is matched before anybody is known: never by an engine that goes back and forth. */
function compile(pattern: string): Regexp {
  const compiled = compileRegexp(pattern);
  if ('error' in compiled) throw new Error(compiled.error);
  return compiled;
}
