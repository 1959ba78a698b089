import { parseCertificates } from '../serving/certificates/pem.ts';
import type { Logger } from './logger.ts';

const DAY_MS = 24 * 3_600_000;
/** A month: time enough for whoever renews by hand. */
const WARN_BEFORE_MS = 30 * DAY_MS;

export interface WatchedCertificate {
  file: string;
  pem(): string;
}

/** Says at the start and every day which certificates of the server's own files end within a month, or have ended. Answers what stops it. */
export function warnOfExpiry(certificates: readonly WatchedCertificate[], logger: Logger, now: () => number = Date.now): () => void {
  const look = (): void => {
    for (const { file, pem } of certificates) {
      const endMs = Math.min(...parseCertificates(pem()).map(({ validTo }) => Date.parse(validTo)));
      const leftMs = endMs - now();
      if (leftMs > WARN_BEFORE_MS) continue;
      const fields = { file, notAfter: new Date(endMs).toISOString(), daysLeft: Math.max(0, Math.floor(leftMs / DAY_MS)) };
      if (leftMs > 0) logger.warn('A certificate expires soon', fields);
      else logger.error('A certificate has expired', fields);
    }
  };
  look();
  const timer = setInterval(look, DAY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
