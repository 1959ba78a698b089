import type { Filter } from './filter.ts';

/** `--goaway-chance`: now and then a client of HTTP/2 is asked to connect anew, so that load spreads over the servers behind a balancer. */
export function withGoawayChance(chance: number, random: () => number = Math.random): Filter {
  return (next) => (request) => {
    if (request.exchange.httpVersion === '2.0' && random() < chance) request.exchange.connection.requestClose();
    return next(request);
  };
}
