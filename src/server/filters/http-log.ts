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

/** Where the lines go, while somebody wants them: the verbosity of a log may change while the server runs. */
export interface HttpLog {
  isOn(): boolean;
  write(entry: HttpLogEntry): void;
}

export function withHttpLog(log: HttpLog): Filter {
  const write = ({ exchange, info, receivedAtMs, finishedAtMs, userAgent, auditId }: IncomingRequest): void =>
    log.write({
      verb: info.verb,
      target: exchange.target,
      latencyMs: finishedAtMs - receivedAtMs,
      userAgent,
      auditId,
      remoteAddress: exchange.remoteAddress,
      status: exchange.status,
    });
  return (next) => (request) => {
    if (log.isOn()) request.onFinish(write);
    return next(request);
  };
}
