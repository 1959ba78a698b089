import type { RequestHandler } from './filters/filter.ts';
import { writeTextError } from './filters/write-error.ts';
import { serviceUnavailable } from '../api/errors.ts';

const RETRY_AFTER_SECONDS = 5;

/** The end of the chain: nobody knows the path. Before all paths are installed, that may yet change (apiserver/pkg/server/notfoundhandler). */
export const notFoundHandler: RequestHandler = (request) => {
  if (request.cameBeforePathsInstalled) {
    throw serviceUnavailable('the request has been made before all known HTTP paths have been installed, please try again', RETRY_AFTER_SECONDS);
  }
  writeTextError(request, 404, '404 page not found');
};
