import type { Random } from '../../src/util/test-random.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

const COMMON = ['application/json', 'application/yaml', PROTOBUF, TABLE, `${TABLE},application/json`];
const RARE = [
  '*/*',
  '',
  'text/html',
  'application/*',
  'application/cbor',
  `${PROTOBUF};as=Table;v=v1;g=meta.k8s.io`,
  `${PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`,
  `${PROTOBUF};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io`,
  'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
  'application/json;as=Table;v=v2;g=meta.k8s.io',
  'application/json;as=Nothing;v=v1;g=meta.k8s.io',
  'application/yaml;as=Table;v=v1;g=meta.k8s.io',
  'application/json;stream=watch',
  'application/json;pretty=1',
  'application/xml;q=0.9, application/json;q=0.1',
  'application/vnd.example',
];

/** Of reads: one object or a list. */
export const readAccept = (random: Random, isList: boolean): string =>
  random.chance(0.75) ? random.pick([...COMMON, isList ? PARTIAL_LIST : PARTIAL]) : random.pick([...RARE, PARTIAL, PARTIAL_LIST]);

/** Of writes: most take what comes. */
export const writeAccept = (random: Random): { headers?: Record<string, string> } =>
  random.chance(0.12) ? { headers: { accept: readAccept(random, false) } } : {};
