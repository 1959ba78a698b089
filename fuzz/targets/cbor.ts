import { cborTypeMeta, decodeCborObject } from '../../src/schema/cbor-decode.ts';
import { encodeCbor } from '../../src/schema/cbor-encode.ts';
import { DecodeError } from '../../src/schema/decode.ts';
import { diagnoseCbor } from '../../src/encoding/cbor-diagnose.ts';
import { CborError } from '../../src/encoding/cbor-items.ts';
import { decodeCbor } from '../../src/encoding/cbor-reader.ts';
import { ApiError } from '../../src/api/errors.ts';
import { stringifyJson } from '../../src/encoding/json.ts';
import { type FuzzTarget, bytes, mustAgree } from '../target.ts';
import { POD_SCHEMA, pod } from './objects.ts';
import { InputTooLarge } from '../../src/encoding/json-parser.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const TOKENS = bytes('\x9f', '\xbf', '\xff', '\x7f', '\x5f', '\xa1', '\x81', '\xd9\xd9\xf7', '\xc1', '\xc0', '\xd5', '\xf6', '\xfb', '\x1b', '\x3b', '\x61a');

/** Items of no type. */
export const cbor: FuzzTarget = {
  name: 'cbor',
  seeds: () => [
    hex('d9d9f7a26161016162820203'),
    hex('9f018202039f0405ffff'),
    hex('bf6346756ef563416d7421ff'),
    hex('c11a514b67b0'),
    hex('fb3ff199999999999a'),
    hex('d54401020304'),
  ],
  tokens: TOKENS,
  refusals: [CborError, ApiError, InputTooLarge],
  run(input) {
    diagnoseCbor(input);
    stringifyJson(decodeCbor(input));
  },
};

/** A body that is an object. What is accepted is a fixed point. */
export const cborObject: FuzzTarget = {
  name: 'cbor-object',
  seeds: () => [encodeCbor(pod(), POD_SCHEMA)],
  tokens: TOKENS,
  refusals: [CborError, DecodeError, ApiError, InputTooLarge],
  run(input) {
    cborTypeMeta(input);
    const { object } = decodeCborObject(POD_SCHEMA, input, { errors: [] });
    return () => {
      const again = decodeCborObject(POD_SCHEMA, encodeCbor(object, POD_SCHEMA));
      mustAgree('encoded and decoded again', stringifyJson(again.object), stringifyJson(object));
    };
  },
};
