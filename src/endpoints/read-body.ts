import { LARGE_BYTES } from '../registry/request-context.ts';
import type { RequestBody } from './decode-body.ts';
import { negotiateInput } from './negotiation.ts';
import type { ServerRequest } from './request.ts';
import { BODY_LIMIT_BYTES, type ResourceTarget } from './target.ts';

export async function readBytes(request: ServerRequest): Promise<Buffer> {
  request.waitsFor = 'request-body';
  const bytes = await request.exchange.readBody(BODY_LIMIT_BYTES);
  request.waitsFor = undefined;
  if (bytes.length > LARGE_BYTES) request.isLarge = true;
  return bytes;
}

/** The type first: a body that cannot be understood need not be read. */
export async function readTypedBody(request: ServerRequest, { isCustom, environment }: ResourceTarget): Promise<RequestBody> {
  const mediaType = negotiateInput(request.exchange.headers['content-type'], isCustom, environment.hasCbor);
  return { mediaType, bytes: await readBytes(request) };
}
