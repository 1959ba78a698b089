import { applyJsonPatch, parseJsonPatch } from '../../src/schema/json-patch.ts';
import { runAtOnce } from '../../src/util/time-slice.ts';
import { applyMergePatch, parseMergePatch } from '../../src/schema/merge-patch.ts';
import { applyStrategicMergePatch, parseStrategicMergePatch } from '../../src/schema/strategic-merge.ts';
import { ApiError } from '../../src/api/errors.ts';
import { stringifyJson } from '../../src/encoding/json.ts';
import type { Json } from '../../src/encoding/json-types.ts';
import { type FuzzTarget, mustAgree } from '../target.ts';
import { POD_SCHEMA, pod } from './objects.ts';
import { InputTooLarge } from '../../src/encoding/json-parser.ts';

/* Each is applied to the same object, which must stay as it was. */

const OBJECT = pod();
const TEXT = stringifyJson(OBJECT);

/** A kind of patch: what it makes of the object can be written, and the object itself stays. */
const patchTarget = (kind: Pick<FuzzTarget, 'name' | 'seeds' | 'tokens'>, patched: (input: Buffer) => Json): FuzzTarget => ({
  ...kind,
  isJson: true,
  refusals: [ApiError, InputTooLarge],
  run(input) {
    stringifyJson(patched(input));
    return () => mustAgree('the patched object', stringifyJson(OBJECT), TEXT);
  },
});

export const jsonPatch = patchTarget(
  {
    name: 'json-patch',
    seeds: () => [
      '[{"op":"add","path":"/spec/containers/-","value":{"name":"z"}},{"op":"remove","path":"/metadata/labels/app"}]',
      '[{"op":"copy","from":"/spec","path":"/spec/copied"},{"op":"move","from":"/status","path":"/metadata/a~1b"}]',
      '[{"op":"test","path":"/kind","value":"Pod"},{"op":"replace","path":"","value":{}}]',
    ],
    tokens: [
      '"op":',
      '"path":',
      '"from":',
      '"value":',
      '"add"',
      '"copy"',
      '"move"',
      '"test"',
      '"replace"',
      '"remove"',
      '/spec',
      '/0',
      '/-',
      '~0',
      '~1',
      '~2',
      '/__proto__',
      '{"op":"copy","from":"","path":"/x"},',
      '{',
      '}',
      '[',
      ']',
      ',',
    ],
  },
  (input) => runAtOnce(applyJsonPatch(OBJECT, runAtOnce(parseJsonPatch(input, [])))),
);

export const mergePatch = patchTarget(
  {
    name: 'merge-patch',
    seeds: () => ['{"metadata":{"labels":{"app":null,"x":"y"}},"spec":null,"status":{"a":[1,null]}}', '{"spec":{"containers":[{"name":"q"}]}}'],
    tokens: ['null', '"spec":', '"metadata":', '{', '}', '[', ']', ',', ':', '"__proto__":'],
  },
  (input) => runAtOnce(applyMergePatch(OBJECT, runAtOnce(parseMergePatch(input, [])))),
);

export const strategicMerge = patchTarget(
  {
    name: 'strategic-merge-patch',
    seeds: () => [
      '{"spec":{"containers":[{"name":"a","image":"z"},{"$patch":"delete","name":"c"}],"$setElementOrder/containers":[{"name":"c"},{"name":"a"}]}}',
      '{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.org/a"],"finalizers":["x"],"$setElementOrder/finalizers":["x","example.org/b"]}}',
      '{"spec":{"$retainKeys":["containers"],"volumes":[{"name":"v","$retainKeys":["name"]},{"$patch":"replace"}]},"status":{"$patch":"replace","a":1}}',
    ],
    tokens: [
      '"$patch":',
      '"delete"',
      '"replace"',
      '"merge"',
      '"$retainKeys":',
      '"$setElementOrder/containers":',
      '"$deleteFromPrimitiveList/finalizers":',
      '{"name":"a"},',
      '{"$patch":"delete","name":"a"},',
      'null',
      '{',
      '}',
      '[',
      ']',
      ',',
    ],
  },
  (input) => runAtOnce(applyStrategicMergePatch(POD_SCHEMA, OBJECT, runAtOnce(parseStrategicMergePatch(input, [])))),
);
