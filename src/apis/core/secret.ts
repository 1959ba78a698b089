import type { FieldErrors } from '../../api/field-errors.ts';
import { workInSteps } from '../../api/validation-run.ts';
import { isJsonObject, parseJsonInSteps } from '../../encoding/json.ts';
import { JsonError } from '../../encoding/json-parser.ts';
import { configMapKeyErrors } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { Secret } from '../facts/types/core-v1.ts';
import { keyPairProblems } from '../validation/key-pair.ts';
import { MAX_DATA_BYTES, base64Bytes, validateImmutable } from './config-map.ts';

const OPAQUE = 'Opaque';
const TLS = 'kubernetes.io/tls';
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';

const REDACTED = '<secret contents redacted>';

/** What a type demands of the keys of `data`. Types that are not here demand nothing. */
const DEMANDS: Record<string, (secret: Secret, errors: FieldErrors) => void> = {
  'kubernetes.io/service-account-token': ({ metadata }, errors) => {
    if (!metadata.annotations?.[ACCOUNT_NAME]) errors.at('metadata', 'annotations').key(ACCOUNT_NAME).required();
  },
  'kubernetes.io/dockercfg': (secret, errors) => demandJson(secret, '.dockercfg', errors),
  'kubernetes.io/dockerconfigjson': (secret, errors) => demandJson(secret, '.dockerconfigjson', errors),
  'kubernetes.io/basic-auth': ({ data = {} }, errors) => {
    if (!Object.hasOwn(data, 'username') && !Object.hasOwn(data, 'password')) demandKeys({}, ['username', 'password'], errors);
  },
  'kubernetes.io/ssh-auth': ({ data = {} }, errors) => {
    if (!data['ssh-privatekey']) errors.at('data').key('ssh-privatekey').required();
  },
  [TLS]: ({ data = {} }, errors) => demandKeys(data, ['tls.crt', 'tls.key'], errors),
};

/** Like a ConfigMap, for what must not be seen: values are bytes, in base64, and never leave in an error. */
export const secrets = defineResource<Secret>('v1/secrets', {
  validatesFinalizerNames: true,
  default(secret) {
    secret.type ||= OPAQUE;
    encodeStringData(secret);
  },
  prepareForUpdate({ object: secret, old }) {
    // An update that names no type keeps the one there was.
    secret.type ||= old.type ?? OPAQUE;
  },

  validate({ object: secret }, errors) {
    const { data = {}, type = '' } = secret;
    for (const key of Object.keys(data)) for (const error of configMapKeyErrors(key)) errors.at('data').key(key).invalid(key, error);
    if (base64Bytes(data) > MAX_DATA_BYTES) errors.at('data').tooLong(MAX_DATA_BYTES);
    if (Object.hasOwn(DEMANDS, type)) DEMANDS[type]!(secret, errors);
  },
  validatesWhole: 'after',
  validateUpdate(write, errors) {
    const { object: secret, old } = write;
    if (secret.type !== old.type) errors.at('type').invalidTyped(secret.type, 'field is immutable');
    if (old.immutable) validateImmutable(write, ['data'], errors);
  },

  warnings: ({ object: { type, data = {} } }) => (type === TLS ? keyPairProblems(bytesOf(data['tls.crt']), bytesOf(data['tls.key'])) : []),

  selectable: { type: ({ type }) => type ?? '' },
  cells: { Type: ({ type }) => type ?? '', Data: ({ data = {} }) => Object.keys(data).length },
});

/** `stringData` is for writing only: its values go into `data`, over what is there. */
function encodeStringData(secret: Secret): void {
  if (!secret.stringData) return;
  const encoded = Object.entries(secret.stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  secret.data = { ...secret.data, ...Object.fromEntries(encoded) };
  delete secret.stringData;
}

function demandKeys(data: Record<string, string>, keys: readonly string[], errors: FieldErrors): void {
  for (const key of keys) if (!Object.hasOwn(data, key)) errors.at('data').key(key).required();
}

function demandJson({ data = {} }: Secret, key: string, errors: FieldErrors): void {
  const at = errors.at('data').key(key);
  if (!Object.hasOwn(data, key)) return at.required();
  try {
    const value = workInSteps(at, 'json', () => parseJsonInSteps(bytesOf(data[key])));
    if (value !== null && !isJsonObject(value)) at.invalid(REDACTED, `json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    at.invalid(REDACTED, error.message);
  }
}

const bytesOf = (value = ''): Buffer => Buffer.from(value, 'base64');

/** As Go's decoder names it. */
const jsonKind = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'number';
