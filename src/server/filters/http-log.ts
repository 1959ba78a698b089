import type { IncomingRequest } from '../server-request.ts';
import type { Filter } from './filter.ts';

/** One line of the access log. Headers and bodies are not among it: they carry tokens (CVE-2019-11250, CVE-2020-8565). */
export interface HttpLogEntry {
  verb: string;
  target: string;
  latencyMs: number;
  userAgent: string;
  auditId: string;
  remoteAddress: string;
  status: number;
}

export function withHttpLog(log: (entry: HttpLogEntry) => void): Filter {
  const write = ({ exchange, info, receivedAtMs, userAgent, auditId }: IncomingRequest): void =>
    log({
      verb: info.verb,
      target: exchange.target,
      latencyMs: performance.now() - receivedAtMs,
      userAgent,
      auditId,
      remoteAddress: exchange.remoteAddress,
      status: exchange.status,
    });
  return (next) => (request) => {
    request.onFinish(write);
    return next(request);
  };
}
