import type { Json } from '../../src/encoding/json-types.ts';
import { duplicatePaths, parseJson, stringifyJson } from '../../src/encoding/json.ts';
import { type DuplicateKeys, InputTooLarge, JsonError, type NumberLiterals, parseDocument, parseDocumentInSteps } from '../../src/encoding/json-parser.ts';
import { DecodeError, type StrictErrors, decode } from '../../src/schema/decode.ts';
import { JSON_FRAGMENTS } from '../mutate.ts';
import { type FuzzTarget, WrongAnswer, mustAgree } from '../target.ts';
import { POD_SCHEMA, pod } from './objects.ts';

const TOKENS = [...JSON_FRAGMENTS, 'true', '\\', '"a":', '{"a":', '[1,', '\ufeff', '\u2028', '0'];
const SEEDS = [
  JSON.stringify(pod()),
  '{"a":1,"a":2,"b":{"c":[null,true,false,"x\\u00e9\\n",-0,1.5e3,12345678901234567890]}}',
  '[[[[[]]]],{"":{"":{}}}]',
  ' "\\ud83d\\ude00" ',
  '{"__proto__":{"x":1},"constructor":[]}',
];

/** What V8 makes of it; undefined where that refuses it. */
function nativeReading(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** V8 accepts the same texts and reads the same values, but for numbers that it rounds. */
export const json: FuzzTarget = {
  name: 'json',
  isJson: true,
  seeds: () => SEEDS,
  tokens: TOKENS,
  refusals: [JsonError, InputTooLarge],
  run(input) {
    const text = input.toString();
    agreesInSteps(text);
    const duplicates: DuplicateKeys = new Map();
    const value = parseJson(text, duplicates);
    duplicatePaths(value, duplicates);
    return () => agreesWithNative(text, value, duplicates.size > 0);
  },
};

type Read = (duplicates: DuplicateKeys, literals: NumberLiterals) => Json;

/** All that a reading tells: the value, what was repeated in it, how its numbers were written; or why it was refused. */
function outcomeOf(read: Read): string {
  const duplicates: DuplicateKeys = new Map();
  const literals: NumberLiterals = new Map();
  try {
    const value = read(duplicates, literals);
    return stringifyJson([value, [...duplicates.values()] as unknown as Json, [...literals.values()].map((texts) => [...texts].flat())]);
  } catch (error) {
    return String(error);
  }
}

/** Read by a few values at a time, with another text read in between. */
function readInSteps(text: string, duplicates: DuplicateKeys, literals: NumberLiterals): Json {
  const steps = parseDocumentInSteps(text, duplicates, literals, 1 + (text.length % 13));
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    parseDocument('{"a":[1.0,{"b":1,"b":2}]}', new Map(), new Map());
  }
}

function agreesInSteps(text: string): void {
  const atOnce = outcomeOf((duplicates, literals) => parseDocument(text, duplicates, literals));
  const inSteps = outcomeOf((duplicates, literals) => readInSteps(text, duplicates, literals));
  mustAgree('at once and in steps', atOnce, inSteps);
}

function agreesWithNative(text: string, value: Json, hasDuplicates: boolean): void {
  const native = nativeReading(text);
  if (native === undefined) throw new WrongAnswer('it is no JSON');
  if (!hasDuplicates && !/\d{16}|[eE.]|-0|\\u[dD]/.test(text)) mustAgree('values', stringifyJson(value), stringifyJson(native as Json));
}

/** Read as the object of a type: what is accepted is a fixed point. */
export const decodedJson: FuzzTarget = {
  name: 'decode',
  isJson: true,
  seeds: () => SEEDS,
  tokens: [...TOKENS, '"spec":', '"metadata":', '"containers":', '"name":', '"labels":', '"ports":', '"env":'],
  refusals: [JsonError, InputTooLarge, DecodeError],
  run(input) {
    const duplicates: DuplicateKeys = new Map();
    const strict: StrictErrors = { duplicates, errors: [] };
    const object = decode(POD_SCHEMA, parseJson(input, duplicates), strict);
    return () => mustAgree('decoded again', stringifyJson(decode(POD_SCHEMA, object)), stringifyJson(object));
  },
};
