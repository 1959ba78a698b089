import type { ApiObject } from '../api/api-object.ts';
import type { ResourceTarget } from './target.ts';

/** What a client sent in its version, with that version's defaults, as it would be stored. May change its argument. */
export function toStored({ served }: ResourceTarget, object: ApiObject): ApiObject {
  served.default?.(object);
  return served.toStored?.(object) ?? object;
}
