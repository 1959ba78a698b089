import { parseApiVersion } from '../../api/api-object.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1035LabelErrors, dns1123SubdomainErrors, patternError, qualifiedNameErrors } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { ServerStorageVersion, StorageVersion, StorageVersionCondition, StorageVersionStatus } from '../facts/types/apiserverinternal-v1alpha1.ts';
import { keepMetadataForStatus } from '../status-metadata.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';

const SHOWN_SERVERS = 3;
const DNS1035_LABEL_ERROR = patternError(
  "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  'my-name',
  'abc-123',
);
const EMPTY = 'must be non-empty';

/** In which version each server of the cluster stores a resource. Named `group.resource`. */
export const storageVersions = defineResource<StorageVersion>('internal.apiserver.k8s.io/v1alpha1/storageversions', {
  naming: { errors: nameErrors },
  allowsUnconditionalUpdate: false,
  validatesMetadataUpdate: false,
  validate: ({ object: { metadata } }, errors) => validateFinalizerNames(metadata, errors),

  subresources: {
    status: {
      update: {
        validatesMetadata: false,
        prepareForUpdate: keepMetadataForStatus,
        validateUpdate: ({ object: { status } }, errors) => validateStatus(status, errors.at('status')),
      },
    },
  },

  cells: {
    CommonEncodingVersion: ({ status }) => status.commonEncodingVersion ?? '<unset>',
    StorageVersions: ({ status }) => serversCell(status.storageVersions ?? []),
  },
});

function nameErrors(name: string): string[] {
  const dot = name.lastIndexOf('.');
  if (dot === -1) return ['name must be in the form of <group>.<resource>'];
  return [
    ...dns1123SubdomainErrors(name.slice(0, dot)).map((error) => `the group segment ${error}`),
    ...dns1035LabelErrors(name.slice(dot + 1)).map((error) => `the resource segment ${error}`),
  ];
}

function validateStatus(status: StorageVersionStatus, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, server] of (status.storageVersions ?? []).entries()) {
    const at = errors.at('storageVersions').index(index);
    const { apiServerID = '' } = server;
    if (seen.has(apiServerID)) at.at('apiServerID').duplicate(apiServerID);
    seen.add(apiServerID);
    validateServer(server, at);
  }
  validateCommonVersion(status, errors.at('commonEncodingVersion'));
  validateConditions(status.conditions ?? [], errors);
}

function validateServer(
  { apiServerID = '', encodingVersion = '', decodableVersions = [], servedVersions = [] }: ServerStorageVersion,
  errors: FieldErrors,
): void {
  for (const error of dns1123SubdomainErrors(apiServerID)) errors.at('apiServerID').invalid(apiServerID, error);
  validateApiVersion(encodingVersion, errors.at('encodingVersion'));
  for (const [index, version] of decodableVersions.entries()) validateApiVersion(version, errors.at('decodableVersions').index(index));
  const decodable = new Set(decodableVersions);
  if (!decodable.has(encodingVersion))
    errors
      .at('decodableVersions')
      .invalid(decodableVersions.length === 0 ? null : decodableVersions, `decodableVersions must include encodingVersion ${encodingVersion}`);
  for (const [index, version] of servedVersions.entries()) {
    const at = errors.at('servedVersions').index(index);
    validateApiVersion(version, at);
    if (!decodable.has(version))
      at.invalid(version, `individual served version : ${version} must be included in decodableVersions : [${decodableVersions.join(' ')}]`);
  }
}

function validateApiVersion(apiVersion: string, errors: FieldErrors): void {
  const problems = apiVersionErrors(apiVersion);
  if (problems.length > 0) errors.invalid(apiVersion, problems.join(','));
}

/** `[group/]version` */
function apiVersionErrors(apiVersion: string): string[] {
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) return [`an apiVersion is ${DNS1035_LABEL_ERROR} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`];
  const { group, version } = parsed;
  const groupProblems = group !== '' ? dns1123SubdomainErrors(group) : apiVersion.startsWith('/') ? [EMPTY] : [];
  const versionProblems = version === '' ? [EMPTY] : dns1035LabelErrors(version);
  return [...groupProblems.map((problem) => `group part: ${problem}`), ...versionProblems.map((problem) => `version part: ${problem}`)];
}

/** The version in which all servers encode, if they agree on one. */
function validateCommonVersion({ storageVersions: servers = [], commonEncodingVersion: told }: StorageVersionStatus, errors: FieldErrors): void {
  const [first, ...others] = servers.map(({ encodingVersion = '' }) => encodingVersion);
  const actual = others.every((version) => version === first) ? first : undefined;
  if (actual === told) return;
  if (actual === undefined)
    errors.invalid(told, 'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet');
  else errors.invalidTyped(told, told === undefined ? `the common encoding version is ${actual}` : `the actual common encoding version is ${actual}`);
}

/** Upstream leaves the name of the list out of their paths. */
function validateConditions(conditions: readonly StorageVersionCondition[], errors: FieldErrors): void {
  const firstOfType = new Map<string, number>();
  for (const [index, { type, status, reason, message = '' }] of conditions.entries()) {
    const at = errors.index(index);
    const other = firstOfType.get(type);
    if (other !== undefined) at.at('type').invalid(type, `the type of the condition is not unique, it also appears in conditions[${other}]`);
    firstOfType.set(type, index);
    for (const error of qualifiedNameErrors(type)) at.at('type').invalid(type, error);
    for (const error of qualifiedNameErrors(status)) at.at('status').invalid(status, error);
    if (reason === '') at.at('reason').required();
    if (message === '') at.at('message').required();
  }
}

function serversCell(servers: readonly ServerStorageVersion[]): string {
  const shown = servers.slice(0, SHOWN_SERVERS).map(({ apiServerID = '', encodingVersion = '' }) => `${apiServerID}=${encodingVersion}`);
  return servers.length > SHOWN_SERVERS ? `${shown.join(',')} + ${servers.length - SHOWN_SERVERS} more...` : shown.join(',') || '<unset>';
}
