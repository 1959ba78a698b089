import type { SentObject } from '../registry/write.ts';
import type { ResourceTarget } from './target.ts';

/** What a client sent in its version, with that version's defaults, as it would be stored. May change its argument. */
export function toStored({ served }: ResourceTarget, { object, sentEmpty }: SentObject): SentObject {
  served.default?.(object, { sentEmpty });
  return { object: served.toStored?.(object, { sentEmpty }) ?? object, sentEmpty };
}
