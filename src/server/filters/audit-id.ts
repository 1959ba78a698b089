import { newUuid } from '../../util/uuid.ts';
import type { Filter } from './filter.ts';

const MAX_ID_CHARACTERS = 256;
const VISIBLE_ASCII = /^[!-~]+$/;

export interface AuditIdOptions {
  /** Whether anything may be recorded: annotations are kept from here on. */
  isAuditing?: boolean;
  newId?: () => string;
}

/** Names the request: with the client's `Audit-ID` where it gives a usable one, else with a new one. The answer repeats it. */
export function withAuditId({ isAuditing = false, newId = newUuid }: AuditIdOptions = {}): Filter {
  return (next) => (request) => {
    const given = request.exchange.headers['audit-id'];
    request.auditId = typeof given === 'string' && isUsable(given) ? given : newId();
    request.isAudited = isAuditing;
    request.responseHeaders['audit-id'] = request.auditId;
    return next(request);
  };
}

const isUsable = (id: string): boolean => id.length <= MAX_ID_CHARACTERS && VISIBLE_ASCII.test(id);
