import { isJsonObject } from '../encoding/json.ts';
import type { Json } from '../encoding/json-types.ts';

/** What a server's history has in place of a Secret's value (`--history-secrets`), in base64: `not kept: …`, `hmac-sha256:…`. */
const MASKS = ['not kept:', 'hmac-sha256:'].map((text) => ({ text, encoded: Buffer.from(text).toString('base64') }));

const isMaskedText = (value: string): boolean => MASKS.some(({ text, encoded }) => value.startsWith(encoded) || value.startsWith(text));

/** Whether a value, or any in it, is one of which the history has only that it was there. */
export function hasMasked(value: Json | undefined): boolean {
  if (typeof value === 'string') return isMaskedText(value);
  if (Array.isArray(value)) return value.some(hasMasked);
  return isJsonObject(value) && Object.values(value).some(hasMasked);
}
