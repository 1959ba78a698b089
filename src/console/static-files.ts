import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { ApiError, genericMethodNotAllowed, genericNotFound } from '../api/errors.ts';
import type { ServerRequest } from '../endpoints/request.ts';
import type { ResponseHeaders } from '../serving/exchange.ts';

/** What is kept in memory, all together; a file beyond it is read each time that it is asked for. */
const CACHE_LIMIT_BYTES = 1024 * 1024;
/** More is no build of the page. */
const MAX_FILES = 1_000;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** As Accept-Encoding names them, and as the build names the files; the smallest first. */
const CODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Nothing from elsewhere, nothing inline, in nobody's frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const PAGE_HEADERS: ResponseHeaders = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'Accept-Encoding',
};

interface Content {
  bytes: Buffer;
  etag: string;
}

/**
 * The page's files, as the build left them. Which there are is read when the first is asked for: a path is looked up among their names, and never made into one.
 * With a name that has a hash in it, a file is good for ever.
 */
export class StaticFiles {
  readonly #folder: string;
  /** By name below the folder, `index.html` or `assets/x-abc.js`: the codings that it is there in. */
  #names: Promise<ReadonlyMap<string, ReadonlySet<string>>> | undefined;
  readonly #cache = new Map<string, Content>();
  #cachedBytes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** `name`: of the path, below `/console/`. */
  async serve({ exchange, responseHeaders }: ServerRequest, name: string): Promise<void> {
    const { method, headers } = exchange;
    if (method !== 'GET' && method !== 'HEAD') {
      responseHeaders['allow'] = 'GET, HEAD';
      throw genericMethodNotAllowed();
    }
    const isAsset = name.startsWith('assets/');
    const codings = (await this.#list()).get(name);
    if (!codings) throw genericNotFound();
    const [coding, suffix] = CODINGS.find(([known, end]) => codings.has(end) && accepts(headers['accept-encoding'], known)) ?? ['', ''];
    const { bytes, etag } = await this.#read(name + suffix);
    const all: ResponseHeaders = {
      ...PAGE_HEADERS,
      'content-type': CONTENT_TYPES[extname(name)] ?? 'application/octet-stream',
      'cache-control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
      etag,
      ...(coding !== '' && { 'content-encoding': coding }),
    };
    if (headers['if-none-match']?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)) return exchange.respond(304, all);
    exchange.respond(200, all, bytes);
  }

  #list(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    this.#names ??= listFiles(this.#folder).catch((error: NodeJS.ErrnoException) => {
      this.#names = undefined;
      if (error.code !== 'ENOENT') throw error;
      throw new ApiError(404, 'NotFound', `the files of the console are not part of this build: ${this.#folder} is not there`);
    });
    return this.#names;
  }

  async #read(file: string): Promise<Content> {
    const known = this.#cache.get(file);
    if (known) return known;
    const bytes = await readFile(join(this.#folder, file));
    const content = { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
    if (!this.#cache.has(file) && this.#cachedBytes + bytes.length <= CACHE_LIMIT_BYTES) {
      this.#cachedBytes += bytes.length;
      this.#cache.set(file, content);
    }
    return content;
  }
}

async function listFiles(folder: string): Promise<Map<string, Set<string>>> {
  const files = [...(await filesIn(folder, '')), ...(await filesIn(join(folder, 'assets'), 'assets/'))].slice(0, MAX_FILES);
  const all = new Set(files);
  const suffixOf = (file: string): string => CODINGS.find(([, suffix]) => file.endsWith(suffix) && all.has(file.slice(0, -suffix.length)))?.[1] ?? '';
  const names = new Map(files.filter((file) => suffixOf(file) === '').map((file) => [file, new Set<string>()]));
  for (const file of files) {
    const suffix = suffixOf(file);
    if (suffix !== '') names.get(file.slice(0, -suffix.length))?.add(suffix);
  }
  return names;
}

async function filesIn(folder: string, prefix: string): Promise<string[]> {
  try {
    return (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => prefix + name);
  } catch (error) {
    if (prefix !== '' && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Whether a coding is named, and not refused (RFC 9110 §12.5.3). */
const accepts = (acceptEncoding: string | undefined, coding: string): boolean =>
  (acceptEncoding ?? '').split(',').some((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
