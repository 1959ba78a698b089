import { ItemError } from '../../src/schema/ownership/list-items.ts';
import { ManagedFieldsError, decodeManagers, encodeManagers } from '../../src/schema/ownership/managers.ts';
import { fieldsOf } from '../../src/schema/ownership/fields-of.ts';
import { mergeObjects } from '../../src/schema/ownership/merge.ts';
import { removeFields } from '../../src/schema/ownership/remove.ts';
import { typePlanOf } from '../../src/schema/ownership/type-plan.ts';
import { TypeMismatch, validateApplied } from '../../src/schema/ownership/validate.ts';
import { ApiError } from '../../src/api/errors.ts';
import { isJsonObject, parseJson, stringifyJson } from '../../src/encoding/json.ts';
import { InputTooLarge, JsonError } from '../../src/encoding/json-parser.ts';
import { type FuzzTarget, mustAgree } from '../target.ts';
import { POD_SCHEMA, pod } from './objects.ts';

const MANAGED = [
  {
    manager: 'kubectl',
    operation: 'Apply',
    apiVersion: 'v1',
    time: '2024-01-02T03:04:05Z',
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:spec': { 'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:image': {} } } },
      'f:metadata': { 'f:finalizers': { 'v:"x"': {} }, 'f:labels': { '.': {}, 'f:a': {} } },
    },
  },
  { manager: 'b', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:status': { 'i:0': {} } }, subresource: 'status' },
];

/** managedFields that a client sends: what is accepted is a fixed point. */
export const managedFields: FuzzTarget = {
  name: 'managed-fields',
  isJson: true,
  seeds: () => [JSON.stringify(MANAGED)],
  tokens: [
    '"f:a":',
    '"k:{\\"name\\":\\"a\\"}":',
    '"v:1":',
    '"i:0":',
    '".":{}',
    '{',
    '}',
    ',',
    '"Apply"',
    '"Update"',
    '__proto__',
    'f:',
    'k:',
    'v:',
    'i:',
    '\\"',
  ],
  refusals: [ManagedFieldsError, JsonError, ApiError, InputTooLarge],
  run(input) {
    const entries = parseJson(input);
    if (!Array.isArray(entries) || !entries.every(isJsonObject)) return undefined;
    const written = encodeManagers(decodeManagers(entries)) ?? [];
    return () => mustAgree('written and read again', stringifyJson(encodeManagers(decodeManagers(written)) ?? []), stringifyJson(written));
  },
};

const PLAN = typePlanOf(POD_SCHEMA);
const LIVE = pod();
const LIVE_TEXT = stringifyJson(LIVE);

/** Server-side apply of a configuration to an object, which stays as it was. */
export const apply: FuzzTarget = {
  name: 'apply',
  isJson: true,
  seeds: () => [
    JSON.stringify(pod()),
    '{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"protocol":"TCP"}]}]},"metadata":{"finalizers":["x","x"]}}',
  ],
  tokens: [
    '"name":',
    '"containers":',
    '"ports":',
    '"containerPort":80',
    '{"name":"a"},',
    'null',
    '[]',
    '{}',
    '{',
    '}',
    '[',
    ']',
    ',',
    '"finalizers":["x"]',
    '"labels":',
  ],
  refusals: [TypeMismatch, ItemError, JsonError, ApiError, InputTooLarge],
  run(input) {
    const applied = parseJson(input);
    if (!isJsonObject(applied)) return undefined;
    validateApplied(PLAN, applied);
    const merged = mergeObjects(PLAN, LIVE, applied);
    removeFields(PLAN, merged, fieldsOf(PLAN, applied));
    return () => {
      mustAgree('applied again', stringifyJson(mergeObjects(PLAN, merged, applied)), stringifyJson(merged));
      mustAgree('the live object', stringifyJson(LIVE), LIVE_TEXT);
    };
  },
};
