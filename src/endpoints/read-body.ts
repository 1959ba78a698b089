import type { RequestBody } from './decode-body.ts';
import { negotiateInput } from './negotiation.ts';
import type { ServerRequest } from './request.ts';
import { BODY_LIMIT_BYTES, type ResourceTarget } from './target.ts';

export const readBytes = ({ exchange }: ServerRequest): Promise<Buffer> => exchange.readBody(BODY_LIMIT_BYTES);

/** The type first: a body that cannot be understood need not be read. */
export async function readTypedBody(request: ServerRequest, { isCustom, environment }: ResourceTarget): Promise<RequestBody> {
  const mediaType = negotiateInput(request.exchange.headers['content-type'], isCustom, environment.hasCbor);
  return { mediaType, bytes: await readBytes(request) };
}
