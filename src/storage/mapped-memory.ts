/**
 * Memory that the kernel gives to this piece alone, page by page as it is written, and has back as soon as the piece is collected. An ordinary ArrayBuffer
 * comes from malloc: what is kept for long lies there between what is not, and holes between them are never given back. V8 maps memory for those
 * buffers that may change their size, even where they do not. Views of it are made by `sliceOf`.
 */
export function mappedMemory(sizeBytes: number): Buffer {
  const ResizableBuffer = ArrayBuffer as unknown as new (sizeBytes: number, options: { maxByteLength: number }) => ArrayBuffer;
  return Buffer.from(new ResizableBuffer(sizeBytes, { maxByteLength: sizeBytes }));
}

/**
 * As `subarray`, of mapped memory. V8 makes a hidden class for each Buffer on a resizable ArrayBuffer by itself, so that whoever looks at one does so the slow
 * way: a microsecond to make it, and three more for a GET of it. A Uint8Array that becomes a Buffer afterwards shares its class with all others.
 */
export const sliceOf = (memory: Buffer, start: number, end: number): Buffer =>
  Object.setPrototypeOf(new Uint8Array(memory.buffer, memory.byteOffset + start, end - start), Buffer.prototype) as Buffer;
