import { schemaOfKind } from '../../src/apis/facts/schemas.ts';
import { decodeEnvelope, decodeProtobuf, encodeProtobuf, encodeProtobufObject, protobufInSteps } from '../../src/schema/protobuf.ts';
import { ApiError } from '../../src/api/errors.ts';
import { stringifyJson } from '../../src/encoding/json.ts';
import { runAtOnce } from '../../src/util/time-slice.ts';
import { mutateProtobuf } from '../structure/protobuf.ts';
import { type FuzzTarget, bytes, mustAgree } from '../target.ts';
import { POD_SCHEMA, pod } from './objects.ts';
import { InputTooLarge } from '../../src/encoding/json-parser.ts';

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', managedFields: [{ manager: 'm', operation: 'Update', fieldsV1: { 'f:spec': {} } }] },
  spec: { replicas: 3, selector: { matchLabels: { a: 'b' } }, template: { spec: { containers: [] } } },
};

/** An envelope and the object in it, taken for a Deployment where it says so, and else for a Pod. What is accepted is a fixed point. */
export const protobuf: FuzzTarget = {
  name: 'protobuf',
  seeds: () => [encodeProtobufObject(POD_SCHEMA, pod()), encodeProtobufObject(schemaOfKind('apps', 'v1', 'Deployment'), deployment)],
  tokens: bytes(
    'k8s\0',
    '\x0a\x00',
    '\x12\x02',
    '\x1a\x80\x01',
    '\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01',
    '\x0b',
    '\x0c',
    '\x0d',
    '\x08\x01',
    '\x80',
    '\x12\x7f',
  ),
  mutateStructure: mutateProtobuf,
  refusals: [ApiError, InputTooLarge],
  run(input) {
    const { kind, raw } = decodeEnvelope(input);
    const schema = kind === 'Deployment' ? schemaOfKind('apps', 'v1', 'Deployment') : POD_SCHEMA;
    const object = decodeProtobuf(schema, raw);
    return () => {
      const text = stringifyJson(object);
      mustAgree('read in steps', stringifyJson(runAtOnce(protobufInSteps(schema, raw))), text);
      return mustAgree('encoded and decoded again', stringifyJson(decodeProtobuf(schema, encodeProtobuf(schema, object))), text);
    };
  },
};
