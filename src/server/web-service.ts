import { namesOneOf } from '../endpoints/negotiation.ts';
import type { Handler } from '../endpoints/request.ts';
import { genericMethodNotAllowed, genericNotAcceptable } from '../api/errors.ts';

/** A path of one document, as upstream's router (go-restful) has it: it is read, in the one form that there is. */
export const webService =
  (mediaType: string, handler: Handler): Handler =>
  (request) => {
    const { method, headers } = request.exchange;
    if (method !== 'GET') throw genericMethodNotAllowed();
    if (headers.accept && !namesOneOf([mediaType], headers.accept)) {
      throw genericNotAcceptable(`406: Not Acceptable\n\nAvailable representations: ${mediaType}`);
    }
    return handler(request);
  };
