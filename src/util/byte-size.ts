/** Of a body in whichever form: text counts as UTF-8, several buffers as one. */
export function byteSizeOf(body: Buffer | string | readonly Buffer[] | undefined): number {
  if (body === undefined) return 0;
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (Buffer.isBuffer(body)) return body.length;
  let sizeBytes = 0;
  for (const part of body) sizeBytes += part.length;
  return sizeBytes;
}
