import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';

/* A reader of zip files, as far as one needs it to take a few known files out (APPNOTE.TXT §4.3). Node has none, and tests may need nothing but Node and npm. */

interface ZipEntry {
  name: string;
  isDeflated: boolean;
  compressedBytes: number;
  headerAt: number;
}

const END_OF_DIRECTORY = 0x06054b50;
const END_OF_DIRECTORY_BYTES = 22;
const DIRECTORY_ENTRY_BYTES = 46;
const LOCAL_HEADER_BYTES = 30;
const METHOD_DEFLATE = 8;

/** Writes one entry of an archive to a file with the given mode. */
export async function extractEntry(archive: string, name: string, target: string, mode: number): Promise<void> {
  const file = await open(archive);
  try {
    const entry = (await readDirectory(file)).find((candidate) => candidate.name === name);
    if (!entry) throw new Error(`${archive} has no ${name}`);
    const header = await readAt(file, entry.headerAt, LOCAL_HEADER_BYTES);
    const start = entry.headerAt + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
    const stored = file.createReadStream({ start, end: start + entry.compressedBytes - 1, autoClose: false });
    const written = createWriteStream(target, { mode });
    if (entry.isDeflated) await pipeline(stored, createInflateRaw(), written);
    else await pipeline(stored, written);
  } finally {
    await file.close();
  }
}

type File = Awaited<ReturnType<typeof open>>;

async function readAt(file: File, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new Error('the archive is cut off');
  return buffer;
}

/** The directory's place is told at the end of the file; archives with a comment behind it are not read. */
async function readDirectory(file: File): Promise<ZipEntry[]> {
  const { size } = await file.stat();
  const end = await readAt(file, size - END_OF_DIRECTORY_BYTES, END_OF_DIRECTORY_BYTES);
  if (end.readUInt32LE(0) !== END_OF_DIRECTORY) throw new Error('this is no zip file, or one with a comment');
  const directory = await readAt(file, end.readUInt32LE(16), end.readUInt32LE(12));
  const entries: ZipEntry[] = [];
  for (let at = 0; at < directory.length;) {
    const nameBytes = directory.readUInt16LE(at + 28);
    const nameAt = at + DIRECTORY_ENTRY_BYTES;
    entries.push({
      name: directory.toString('utf8', nameAt, nameAt + nameBytes),
      isDeflated: directory.readUInt16LE(at + 10) === METHOD_DEFLATE,
      compressedBytes: directory.readUInt32LE(at + 20),
      headerAt: directory.readUInt32LE(at + 42),
    });
    at = nameAt + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}
