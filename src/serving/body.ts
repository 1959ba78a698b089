import type { Readable, Writable } from 'node:stream';
import { badRequest, requestEntityTooLarge } from '../util/errors.ts';

/** Measured: 13 MB in 10,000 parts cost least CPU over TLS with this, and one slice holds the loop for about 0.1 ms. */
const SLICE_BYTES = 128 * 1024;

export type ResponseBody = Buffer | string | readonly Buffer[];

/** One buffer, or several that belong together in more bytes than are written at once. */
export function normalizeBody(body: ResponseBody | undefined): { sizeBytes: number; whole: Buffer | undefined; parts: readonly Buffer[] } {
  if (body === undefined) return { sizeBytes: 0, whole: undefined, parts: [] };
  if (typeof body === 'string') body = Buffer.from(body);
  if (Buffer.isBuffer(body))
    return body.length <= SLICE_BYTES ? { sizeBytes: body.length, whole: body, parts: [] } : { sizeBytes: body.length, whole: undefined, parts: [body] };
  let sizeBytes = 0;
  for (const part of body) sizeBytes += part.length;
  if (sizeBytes <= SLICE_BYTES) return { sizeBytes, whole: body.length === 1 ? body[0] : Buffer.concat(body, sizeBytes), parts: [] };
  return { sizeBytes, whole: undefined, parts: body };
}

/**
 * Writes parts in slices, each after the one before it was taken, so that a slow client holds one slice in our memory and a fast one does not
 * hold the loop. Small parts are copied together: ten thousand writes cost more than one copy. With `ends`, the sink is ended with the last slice: a
 * client that has read all of an answer sends its next request at once, and Node breaks off one that comes before the answer is over (HPE_PAUSED).
 */
export function writeParts(sink: Writable, parts: readonly Buffer[], ends: boolean): void {
  let index = 0;
  let offset = 0;
  let scratch: Buffer | undefined;
  const nextSlice = (): Buffer | undefined => {
    const first = parts[index];
    if (first === undefined) return undefined;
    if (first.length - offset >= SLICE_BYTES / 4) {
      const slice = first.subarray(offset, offset + SLICE_BYTES);
      offset += slice.length;
      if (offset === first.length) [index, offset] = [index + 1, 0];
      return slice;
    }
    scratch ??= Buffer.allocUnsafeSlow(SLICE_BYTES);
    let filled = 0;
    for (let part = parts[index]; part !== undefined && filled + part.length - offset <= SLICE_BYTES; part = parts[index]) {
      filled += part.copy(scratch, filled, offset);
      [index, offset] = [index + 1, 0];
    }
    return scratch.subarray(0, filled);
  };
  const pump = (): void => {
    for (let slice = nextSlice(); slice !== undefined; slice = nextSlice()) {
      if (sink.destroyed) return;
      if (ends && index === parts.length) return void sink.end(slice);
      if (!sink.write(slice)) return void sink.once('drain', pump);
      scratch = undefined; // still on its way: only after a drain may it be filled again
    }
  };
  pump();
}

export const tooLarge = (limitBytes: number): Error => requestEntityTooLarge(`limit is ${limitBytes}`);
export const brokenOff = (): Error => badRequest('unexpected EOF');

/** Reads a request's body to its end. Stops reading at the limit, and when `onGone` calls back: nobody waits for the body any more. */
export function readAll(source: Readable, declaredLength: string | undefined, limitBytes: number, onGone?: (listener: () => void) => void): Promise<Buffer> {
  if (declaredLength !== undefined && Number(declaredLength) > limitBytes) return Promise.reject(tooLarge(limitBytes));
  if (source.readableEnded) return Promise.resolve(Buffer.alloc(0));
  if (source.destroyed) return Promise.reject(brokenOff());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
      source.off('data', onData).off('end', onEnd).off('close', onBrokenOff).off('aborted', onBrokenOff);
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes <= limitBytes) return;
      settle();
      source.pause();
      reject(tooLarge(limitBytes));
    };
    const onEnd = (): void => {
      settle();
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, sizeBytes));
    };
    const onBrokenOff = (): void => {
      if (isSettled) return; // an error that nobody sees still costs its stack
      settle();
      reject(brokenOff());
    };
    source.on('data', onData).on('end', onEnd).on('close', onBrokenOff).on('aborted', onBrokenOff);
    onGone?.(onBrokenOff);
  });
}
