import type { IncomingRequest } from '../server-request.ts';

/** A handler as filters see it: with the whole of the request. Any endpoint's `Handler` is one. */
export type RequestHandler = (request: IncomingRequest) => Promise<void> | void;

/**
 * Wraps what comes behind it. A filter that refuses throws an ApiError or answers; one that has work to do afterwards says so with
 * `request.onFinish`, so that a synchronous answer costs no promise and an asynchronous one costs one for the whole chain.
 */
export type Filter = (next: RequestHandler) => RequestHandler;
