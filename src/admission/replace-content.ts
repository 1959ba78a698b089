import type { AdmissionAttributes } from '../registry/admission.ts';
import type { SentObject } from '../registry/write.ts';
import { setKey } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/** Whoever holds the object holds its new content: what a mutation made takes the place of what was there. */
export function replaceContent(attributes: AdmissionAttributes, { object: next, sentEmpty, through }: SentObject): void {
  const target = attributes.object as unknown as JsonObject;
  for (const key of Object.keys(target)) if (!Object.hasOwn(next, key)) delete target[key];
  for (const [key, value] of Object.entries(next)) setKey(target, key, value as Json);
  attributes.sentEmpty = sentEmpty;
  attributes.through = through;
}
