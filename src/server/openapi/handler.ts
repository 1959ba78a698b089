import { parseAccept } from '../../endpoints/negotiation.ts';
import type { Handler, ServerRequest } from '../../endpoints/request.ts';
import type { ResponseHeaders } from '../../serving/exchange.ts';
import type { Document, DocumentSources, Form, OpenApiDocuments } from './documents.ts';
import { hashedUrl } from './hashed-url.ts';

const JSON_TYPE = 'application/json';

/** By what a client may ask for, best first. Older clients name the protobuf type with an `@`; it is answered by its proper name. */
type Offers = readonly { subtype: string; form: Form; contentType: string }[];

const offersOf = (version: 'v2' | 'v3'): Offers => {
  const protobuf = { form: 'protobuf', contentType: `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf` } as const;
  return [
    { subtype: 'json', form: 'json', contentType: JSON_TYPE },
    { subtype: `com.github.proto-openapi.spec.${version}.v1.0+protobuf`, ...protobuf },
    { subtype: `com.github.proto-openapi.spec.${version}@v1.0+protobuf`, ...protobuf },
  ];
};
const V2_OFFERS = offersOf('v2');
const V3_OFFERS = offersOf('v3');

const VARY: ResponseHeaders = { vary: ['Accept-Encoding', 'Accept'] };

/** `/openapi/v2`, `/openapi/v3` and the documents below it (kube-openapi/pkg/handler and handler3); other paths go on to `next`. */
export function withOpenApi(sources: DocumentSources, next: Handler): Handler {
  let loaded: Promise<OpenApiDocuments> | undefined;
  /** What makes documents is loaded with the first request for one. */
  const load = (): Promise<OpenApiDocuments> => (loaded ??= import('./documents.ts').then((module) => new module.OpenApiDocuments(sources)));
  const serve = async (request: ServerRequest): Promise<void> => {
    const { path } = request.info;
    if (path === '/openapi/v2') return serveWhole(request, await load());
    if (path === '/openapi/v3') return serveIndex(request, await load());
    if (path.startsWith('/openapi/v3/')) return serveSection(request, await load(), path.slice('/openapi/v3/'.length));
    return next(request);
  };
  return (request) => (request.info.path.startsWith('/openapi/v') ? serve(request) : next(request));
}

async function serveWhole(request: ServerRequest, documents: OpenApiDocuments): Promise<void> {
  const offer = negotiate(request, V2_OFFERS);
  if (!offer) return request.exchange.respond(406, VARY);
  return send(request, await documents.whole(offer.form), { 'content-type': offer.contentType });
}

async function serveIndex(request: ServerRequest, documents: OpenApiDocuments): Promise<void> {
  // Upstream names no type, and Go then takes JSON for text.
  return send(request, await documents.index(), { 'content-type': 'text/plain; charset=utf-8' });
}

async function serveSection(request: ServerRequest, documents: OpenApiDocuments, path: string): Promise<void> {
  const { exchange } = request;
  const offer = negotiate(request, V3_OFFERS);
  if (!documents.has(path)) {
    const remote = documents.remote(path);
    return remote ? remote(request) : exchange.respond(404, {});
  }
  if (!offer) return exchange.respond(406, VARY);
  const document = await documents.section(path, offer.form);
  const headers: ResponseHeaders = { 'content-type': offer.contentType };
  const wanted = request.query.get('hash') ?? '';
  if (wanted === '') return send(request, document, headers);
  if (wanted !== document.hash) return exchange.respond(301, { ...VARY, ...headers, etag: `"${document.hash}"`, location: hashedUrl(path, document.hash) });
  // The address holds the content's hash, so that what is behind it never changes.
  return send(request, document, { ...headers, 'cache-control': 'public, immutable', expires: inOneYear() });
}

function negotiate({ exchange }: ServerRequest, offers: Offers): Offers[number] | undefined {
  for (const { type, subtype } of parseAccept(exchange.headers.accept || '*/*')) {
    if (type !== 'application' && type !== '*') continue;
    const offer = offers.find((candidate) => subtype === '*' || subtype === candidate.subtype);
    if (offer) return offer;
  }
  return undefined;
}

async function send({ exchange }: ServerRequest, document: Document, headers: ResponseHeaders): Promise<void> {
  const { hash, lastModified, gzipped } = document;
  const etag = `"${hash}"`;
  const all: ResponseHeaders = { ...VARY, ...headers, etag, 'last-modified': lastModified.toUTCString() };
  if (isNotModified(exchange.headers, etag, lastModified)) {
    const { 'content-type': _none, ...rest } = all;
    return exchange.respond(304, rest);
  }
  if (acceptsGzip(exchange.headers['accept-encoding'])) return exchange.respond(200, { ...all, 'content-encoding': 'gzip' }, gzipped);
  exchange.respond(200, all, await document.plain());
}

/** RFC 9110, section 13.2.2: the date counts only where no tag is given. */
function isNotModified(headers: ServerRequest['exchange']['headers'], etag: string, lastModified: Date): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return tags.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return !Number.isNaN(since) && Math.floor(lastModified.getTime() / 1000) * 1000 <= since;
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some((token) => {
      const [coding, quality = ''] = token.split(';');
      return coding!.trim() === 'gzip' && !/^\s*q=0(\.0*)?\s*$/.test(quality);
    });
}

function inOneYear(): string {
  const date = new Date();
  date.setUTCFullYear(date.getUTCFullYear() + 1);
  return date.toUTCString();
}
