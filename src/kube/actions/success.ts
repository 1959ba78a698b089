import type { ApiObject } from '../../util/api-object.ts';
import type { Status } from '../../util/errors.ts';

const SUCCESS: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };

/** What is answered for a deed that leaves no object to show. */
export const success = (): ApiObject => ({ ...SUCCESS }) as unknown as ApiObject;
