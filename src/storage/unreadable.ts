import { internalError } from '../api/errors.ts';

/* A stored value that can not be decrypted is one object's fault: it is handed on as it is, and whoever reads that object is told why. */

interface Fault {
  error: Error;
  /** Tries to decrypt once more: keys come back, and key services too. */
  retry(): Promise<Buffer>;
  isRetrying: boolean;
  plain: Buffer | undefined;
}

/** What upstream's encrypted values begin with, whatever encrypted them. */
export const ENCRYPTED_PREFIX = Buffer.from('k8s:enc:', 'latin1');
const COLON = 0x3a;

const faults = new WeakMap<Buffer, Fault>();

export const isEncrypted = (value: Buffer): boolean => value[3] === COLON && value.subarray(0, ENCRYPTED_PREFIX.length).equals(ENCRYPTED_PREFIX);

/** Notes why `value`, still encrypted, can not be read. */
export function markUnreadable(value: Buffer, error: Error, retry: () => Promise<Buffer>): Buffer {
  faults.set(value, { error, retry, isRetrying: false, plain: undefined });
  return value;
}

/** The value, if it can be read. Where it could not be decrypted this throws as upstream answers, and tries again in the background, for the next reader. */
export function readableValue(value: Buffer): Buffer {
  if (!isEncrypted(value)) return value;
  const fault = faults.get(value);
  if (fault?.plain) return fault.plain;
  if (fault) void tryAgain(fault);
  throw internalError(fault?.error.message ?? 'identity transformer tried to read encrypted data');
}

async function tryAgain(fault: Fault): Promise<void> {
  if (fault.isRetrying) return;
  fault.isRetrying = true;
  try {
    fault.plain = await fault.retry();
  } catch (error) {
    fault.error = error as Error;
  } finally {
    fault.isRetrying = false;
  }
}
