import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { posix } from 'node:path';
import type { Handler, ServerRequest } from '../endpoints/request.ts';
import { passOn } from '../serving/proxy/forward.ts';
import { genericMethodNotAllowed } from '../api/errors.ts';

const ROOT = '/logs';
const HTML = { 'content-type': 'text/html; charset=utf-8' };
/** As much as Go looks at to tell text from the rest. */
const SNIFFED_BYTES = 512;

/** --enable-logs-handler: the files of a folder, as Go's http.ServeFile serves them (pkg/routes/logs.go), at /logs and all paths below. */
export function logFilesHandler(folder = '/var/log'): Handler {
  return async (request) => {
    if (request.exchange.method !== 'GET') throw genericMethodNotAllowed();
    const path = decodedPath(request.info.path);
    if (path === undefined || path.split(/[/\\]/).includes('..') || path.includes('\0')) return text(request, 400, 'invalid URL path');
    if (path.endsWith('/index.html')) return redirect(request, './');
    const actual = posix.join(folder, withoutTrailingSlashes(path.slice(ROOT.length)));
    let file: FileHandle;
    try {
      file = await open(actual, WITHOUT_WAITING);
    } catch (error) {
      return refuse(request, (error as NodeJS.ErrnoException).code);
    }
    try {
      await serve(request, file, path, actual);
    } finally {
      await file.close();
    }
  };
}

/** By hand: a regular expression would look at each slash of a path for the end of it. */
export function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}

function decodedPath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** A pipe that nobody writes to would keep an ordinary open waiting for ever. */
const WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK;

const refusals: Readonly<Record<string, readonly [code: number, text: string]>> = {
  ENOENT: [404, '404 page not found'],
  ENOTDIR: [404, '404 page not found'],
  ENAMETOOLONG: [404, 'file not found'],
  EACCES: [403, '403 Forbidden'],
  EPERM: [403, '403 Forbidden'],
};
const refuse = (request: ServerRequest, code = ''): void => text(request, ...(refusals[code] ?? ([500, '500 Internal Server Error'] as const)));

function text({ exchange }: ServerRequest, code: number, line: string): void {
  exchange.respond(code, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }, `${line}\n`);
}

function redirect({ exchange }: ServerRequest, to: string): void {
  const at = exchange.target.indexOf('?');
  exchange.respond(301, { location: to + (at < 0 ? '' : exchange.target.slice(at)) });
}

async function serve(request: ServerRequest, file: FileHandle, path: string, actual: string): Promise<void> {
  const { exchange } = request;
  const stats = await file.stat();
  const base = posix.basename(path);
  if (stats.isDirectory() && !path.endsWith('/')) return redirect(request, `${base}/`);
  if (!stats.isDirectory() && path.endsWith('/')) return redirect(request, `../${base}`);
  if (!stats.isDirectory() && !stats.isFile()) return refuse(request, 'ENOENT');
  const lastModified = { 'last-modified': stats.mtime.toUTCString() };
  const sinceMs = Date.parse(exchange.headers['if-modified-since'] ?? '');
  if (Math.floor(stats.mtimeMs / 1000) * 1000 <= sinceMs) return exchange.respond(304, lastModified);
  if (stats.isDirectory()) return exchange.respond(200, { ...HTML, ...lastModified }, await listing(actual));
  await serveContent(request, file, { sizeBytes: stats.size, lastModified });
}

async function listing(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.map((entry) => entry.name + (entry.isDirectory() ? '/' : '')).toSorted((a, b) => (a < b ? -1 : 1));
  const lines = names.map((name) => `<a href="${linkTo(name)}">${escapeHtml(name)}</a>\n`);
  return `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join('')}</pre>\n`;
}

/** What reads like a scheme is told to be none. */
const linkTo = (name: string): string => (name.includes(':') ? './' : '') + escapeHtml(encodeURI(name).replaceAll('?', '%3F').replaceAll('#', '%23'));
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };
const escapeHtml = (plain: string): string => plain.replaceAll(/[&<>"']/g, (character) => escapes[character]!);

interface Content {
  sizeBytes: number;
  lastModified: { 'last-modified': string };
}

/** A file that grows meanwhile is served to where it ended when it was asked for. */
async function serveContent(request: ServerRequest, file: FileHandle, { sizeBytes, lastModified }: Content): Promise<void> {
  const { exchange } = request;
  const range = rangeOf(exchange.headers.range, sizeBytes);
  if (range === 'none') {
    exchange.respond(416, { 'content-type': 'text/plain; charset=utf-8', 'content-range': `bytes */${sizeBytes}` }, 'invalid range: failed to overlap\n');
    return;
  }
  const { first, last } = range ?? { first: 0, last: sizeBytes - 1 };
  const headers = {
    ...lastModified,
    'accept-ranges': 'bytes',
    'content-type': await contentType(file),
    'content-length': last - first + 1,
    ...(range && { 'content-range': `bytes ${first}-${last}/${sizeBytes}` }),
  };
  if (last < first) return exchange.respond(200, headers);
  const body = file.createReadStream({ start: first, end: last, autoClose: false });
  body.on('error', () => body.destroy());
  exchange.onClose(() => body.destroy());
  await passOn(exchange, { status: range ? 206 : 200, headers, body, trailers: () => undefined });
}

/** Undefined: all of it, also where several ranges are asked for, as one may (RFC 9110, 14.2). 'none': nothing of what is asked for is there. */
function rangeOf(header: string | undefined, sizeBytes: number): { first: number; last: number } | 'none' | undefined {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === undefined || (from === '' && to === '')) return undefined;
  const first = from === '' ? Math.max(0, sizeBytes - Number(to)) : Number(from);
  const last = from === '' || to === '' ? sizeBytes - 1 : Math.min(Number(to), sizeBytes - 1);
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  return first >= sizeBytes ? 'none' : { first, last };
}

/** Logs are text, or compressed. Nothing that a browser would run. */
async function contentType(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0);
  const head = buffer.subarray(0, bytesRead);
  if (head[0] === 0x1f && head[1] === 0x8b) return 'application/x-gzip';
  const isBinary = head.some((byte) => byte <= 8 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f));
  return isBinary ? 'application/octet-stream' : 'text/plain; charset=utf-8';
}
