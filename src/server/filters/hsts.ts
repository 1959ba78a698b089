import type { Filter } from './filter.ts';

/** `--strict-transport-security-directives`. */
export function withHsts(directives: readonly string[]): Filter {
  const value = directives.join('; ');
  return (next) => (request) => {
    request.responseHeaders['strict-transport-security'] = value;
    return next(request);
  };
}
