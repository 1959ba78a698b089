import { fn, overload, type Library } from '../declarations.ts';
import { BYTES, STRING } from '../types.ts';
import { CelError, type CelValue } from '../values.ts';

const ALPHABET = /^[A-Za-z0-9+/]*$/;

/** With or without padding, as cel-go takes it. */
function decode(text: string): CelValue {
  const body = text.replaceAll(/[\r\n]/g, '').replace(/={1,2}$/, '');
  const wrong = body.search(/[^A-Za-z0-9+/]/);
  if (!ALPHABET.test(body) || body.length % 4 === 1) return new CelError(`illegal base64 data at input byte ${wrong === -1 ? body.length : wrong}`);
  return Buffer.from(body, 'base64');
}

/** Base64 (cel-go ext/encoders.go). Not a part of Kubernetes' environments. */
export const ENCODERS_LIBRARY: Library = {
  functions: [
    fn('base64.decode', overload('base64_decode_string', [STRING], BYTES, decode)),
    fn(
      'base64.encode',
      overload('base64_encode_bytes', [BYTES], STRING, (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')),
    ),
  ],
};
