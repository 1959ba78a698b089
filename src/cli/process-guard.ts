import type { Logger } from '../compose/logger.ts';

/** What Go's runtime ends a program with that panics. */
const PANIC_EXIT_CODE = 2;

/** Codes of errors that the other end of a connection, or the way there, brings about: of the system, of Node's streams, HTTP and TLS, and of its HTTP parser. */
const PEER_ERROR =
  /^(ECONN\w*|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_\w+|EPROTO|ABORT_ERR|HPE_\w+|ERR_(STREAM|HTTP|HTTP2|SSL|TLS|SOCKET)_\w+)$/;

/** Whether a fault that nobody caught can be no more than a connection that broke. */
export const isPeerFault = (fault: unknown): boolean =>
  fault instanceof Error && (fault.name === 'AbortError' || fault.name === 'TimeoutError' || PEER_ERROR.test(String((fault as NodeJS.ErrnoException).code)));

/**
 * While it serves: a fault that no request's guard has caught (in an event handler, of a promise that nobody waits for) is logged. Where it is a
 * connection that broke, that is all: it costs one client. Any other is a slip of ours, and what was under way when it struck stays half done: a cache
 * that missed a change would be served for true from then on. So the process ends, as upstream's does by a panic outside of requests. What was
 * acknowledged is on disk, and is all there when the server is started again. Answers what ends the watch.
 */
export function guardProcess(logger: Logger, exit: (code: number) => void = (code) => process.exit(code)): () => void {
  const report = (fault: unknown): void => {
    const isPeers = isPeerFault(fault);
    const text = fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
    logger.error(isPeers ? 'A connection broke outside of any request' : 'A fault outside of any request: the server ends', { fault: text });
    if (!isPeers) exit(PANIC_EXIT_CODE);
  };
  const ignore = (): void => {}; // nobody reads the log any more; to log that would begin anew
  process.on('uncaughtException', report).on('unhandledRejection', report);
  process.stderr.on('error', ignore);
  return () => {
    process.off('uncaughtException', report).off('unhandledRejection', report);
    process.stderr.off('error', ignore);
  };
}
