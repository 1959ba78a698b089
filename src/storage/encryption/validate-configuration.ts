import { formatDuration } from '../../util/duration.ts';
import { FieldErrors, summarize } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import type { EncryptionConfiguration, KeyConfiguration, KmsConfiguration, ProviderConfiguration } from './configuration.ts';
import { type ResourcePattern, parseResource } from './resource-pattern.ts';
import { SECRETBOX_KEY_BYTES } from './secretbox.ts';

/* What upstream demands of a configuration (apiserver/pkg/apis/apiserver/validation), in its words and its order. */

const AES_KEY_BYTES = [16, 24, 32];
const NO_PROVIDER = 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity';
const SEVERAL_PROVIDERS = 'more than one provider specified in a single element, should split into different list elements';
/** Stored, but no resources that clients know. */
const HIDDEN_RESOURCES = new Set(['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations']);

/** Throws an Error that tells all that is wrong. `reloads`: whether changes of the file are followed. Secrets are not shown. */
export function checkConfiguration(configuration: EncryptionConfiguration, reloads: boolean): void {
  const errors = new FieldErrors('resources');
  if (configuration.resources.length === 0) errors.required('at least one resources is required');
  const kmsNames = new Set<string>();
  for (const [i, { resources, providers }] of configuration.resources.entries()) {
    const names = errors.index(i).at('resources');
    if (resources.length === 0) names.required(`at least one ${names.path} is required`);
    checkOverlap(resources, names);
    for (const [j, resource] of resources.entries()) checkResource(resource, names.index(j));
    const listed = errors.index(i).at('providers');
    if (providers.length === 0) listed.required(`at least one ${listed.path} is required`);
    for (const [j, provider] of providers.entries()) checkProvider(provider, listed.index(j), kmsNames, reloads);
  }
  if (!errors.isEmpty) throw new Error(summarize(errors.list));
}

function checkOverlap(resources: readonly string[], errors: FieldErrors): void {
  const patterns = resources.map(parseResource);
  const pairs = patterns.flatMap((a, i) => patterns.filter((_b, j) => i !== j).map((b) => [a, b] as const));
  const areSame = ([a, b]: readonly [ResourcePattern, ResourcePattern]): boolean => a.group === b.group && a.resource === b.resource;
  const coversOther = ([a, b]: readonly [ResourcePattern, ResourcePattern]): boolean =>
    (a.group === '*' && a.resource === '*') || (a.group === b.group && (a.resource === '*' || b.resource === '*'));
  if (pairs.some(areSame)) errors.invalid(resources, 'the same resource cannot be specified multiple times');
  // The first pair that is the same counts as that only.
  const firstSame = pairs.findIndex(areSame);
  if (pairs.some((pair, i) => i !== firstSame && coversOther(pair)))
    errors.invalid(resources, "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked");
}

function checkResource(name: string, errors: FieldErrors): void {
  const { group, resource } = parseResource(name);
  if (name.toLowerCase() !== name) errors.invalid(name, 'resource name should not contain capital letters');
  else if (name === '*') errors.invalid(name, "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources");
  else if (HIDDEN_RESOURCES.has(name)) errors.invalid(name, 'resources which do not have REST API/s cannot be encrypted');
  else if (group === 'events.k8s.io')
    errors.invalid(name, "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file");
  else if (group === 'extensions') errors.invalid(name, "'extensions' group has been removed and cannot be used for encryption");
  else if (group === '*' && resource !== '*') errors.invalid(name, 'encrypting the same resource across groups is not supported');
}

function checkProvider(provider: ProviderConfiguration, errors: FieldErrors, kmsNames: Set<string>, reloads: boolean): void {
  const { kms, aesgcm, aescbc, secretbox, identity } = provider;
  const count = [kms, aesgcm, aescbc, secretbox, identity].filter((given) => given !== undefined).length;
  if (count === 0) errors.invalidUnshown(NO_PROVIDER);
  if (count > 1) errors.invalidUnshown(SEVERAL_PROVIDERS);
  if (kms) {
    checkKms(kms, errors.at('kms'), kmsNames, reloads);
    kmsNames.add(kms.name);
  } else if (aesgcm) checkKeys(aesgcm.keys, errors.at('aesgcm', 'keys'), AES_KEY_BYTES);
  else if (aescbc) checkKeys(aescbc.keys, errors.at('aescbc', 'keys'), AES_KEY_BYTES);
  else if (secretbox) checkKeys(secretbox.keys, errors.at('secretbox', 'keys'), [SECRETBOX_KEY_BYTES]);
}

function checkKeys(keys: readonly KeyConfiguration[], errors: FieldErrors, lengths: readonly number[]): void {
  if (keys.length === 0) errors.required('at least one keys is required');
  for (const [i, key] of keys.entries()) checkKey(key, errors.index(i), lengths);
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function checkKey({ name, secret }: KeyConfiguration, errors: FieldErrors, lengths: readonly number[]): void {
  if (name === '') errors.at('name').required('name is a mandatory field for a key');
  const at = errors.at('secret');
  if (secret === '') return at.required('secret is a mandatory field for a key');
  const text = secret.replaceAll(/[\r\n]/g, '');
  if (!BASE64.test(text)) return at.invalid('REDACTED', 'secrets must be base64 encoded');
  const { length } = Buffer.from(text, 'base64');
  if (!lengths.includes(length)) at.invalid('REDACTED', `secret is not of the expected length, got ${length}, expected one of [${lengths.join(' ')}]`);
}

function checkKms(
  { apiVersion, name, cachesize, endpoint, timeoutMs }: KmsConfiguration,
  errors: FieldErrors,
  names: ReadonlySet<string>,
  reloads: boolean,
): void {
  const [atName, atSize] = [errors.at('name'), errors.at('cachesize')];
  if (name === '') atName.required('name is a mandatory field for a provider');
  if (apiVersion !== 'v1' && name.includes(':')) atName.invalid(name, `invalid KMS provider name ${name}, must not contain ':'`);
  if ((reloads || apiVersion !== 'v1') && names.has(name)) atName.invalid(name, `duplicate KMS provider name ${name}, names must be unique`);
  if (timeoutMs <= 0) errors.at('timeout').invalid(formatDuration(timeoutMs), 'timeout should be a positive value');
  checkEndpoint(endpoint, errors.at('endpoint'));
  if (apiVersion !== 'v1' && cachesize !== undefined) atSize.invalid(cachesize, 'cachesize is not supported in v2');
  if (apiVersion === 'v1' && cachesize === 0) atSize.invalid(cachesize, 'cachesize should be a positive value, or negative to disable');
  if (apiVersion !== 'v1' && apiVersion !== 'v2')
    errors.at('apiVersion').invalid(apiVersion, 'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported');
}

function checkEndpoint(endpoint: string, errors: FieldErrors): void {
  if (endpoint === '') return errors.invalid('', 'endpoint is a mandatory field for a kms');
  let scheme: string;
  try {
    scheme = new URL(endpoint).protocol.slice(0, -1);
  } catch {
    // Go reads a text without a scheme as a path.
    scheme = '';
  }
  if (scheme !== 'unix') errors.invalid(endpoint, `unsupported scheme ${quote(scheme)} for KMS provider, only unix is supported`);
}
