import { type Readable, pipeline } from 'node:stream';
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from 'node:zlib';
import { streamOf } from './answer.ts';
import { HtmlLinks } from './html-links.ts';
import { type ProxiedPlace, rewrittenLink } from './links.ts';
import type { BackendResponse } from './transport.ts';

/** Redirects and pages of HTML lead through the proxy; all else is passed on as it comes (apimachinery/pkg/util/proxy/transport.go). */
export function rewriteLinks(response: BackendResponse, place: ProxiedPlace): BackendResponse {
  const { headers } = response;
  const { location } = headers;
  if (typeof location === 'string' && location !== '') {
    headers['location'] = rewrittenBytes(location, place);
    return response;
  }
  const mediaType = String(headers['content-type'] ?? '')
    .split(';')[0]!
    .trim();
  const body = mediaType === 'text/html' ? rewrittenPage(streamOf(response.body), String(headers['content-encoding'] ?? ''), place) : undefined;
  if (body === undefined) return response;
  delete headers['content-length'];
  return { ...response, headers, body };
}

/** Of a link whose characters are the bytes of UTF-8, as headers and pages have them here. */
function rewrittenBytes(link: string, place: ProxiedPlace): string {
  const text = Buffer.from(link, 'latin1').toString('utf8');
  if (text.length === link.length) return rewrittenLink(link, place);
  return Buffer.from(rewrittenLink(text, place), 'utf8').toString('latin1');
}

/** Undefined for an encoding that we do not understand. */
function rewrittenPage(body: Readable, encoding: string, place: ProxiedPlace): Readable | undefined {
  const links = new HtmlLinks((link) => rewrittenBytes(link, place));
  // Whoever reads the last of them learns of a failure: it is destroyed.
  const ignore = (): void => {};
  if (encoding === '') return pipeline(body, links, ignore);
  if (encoding === 'gzip') return pipeline(body, createGunzip(), links, createGzip(), ignore);
  if (encoding === 'deflate') return pipeline(body, createInflateRaw(), links, createDeflateRaw(), ignore);
  return undefined;
}
