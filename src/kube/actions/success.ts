import type { ApiObject } from '../../api/api-object.ts';
import type { Status } from '../../api/errors.ts';

const SUCCESS: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };

/** What is answered to a request that leaves no object to show. */
export const success = (): ApiObject => ({ ...SUCCESS }) as unknown as ApiObject;
