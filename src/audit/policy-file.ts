import { readFile } from 'node:fs/promises';
import { FLAG, TEXT, listOf, optional, structOf } from '../schema/configuration-file.ts';
import { decode } from '../schema/decode.ts';
import { aggregateMessage } from '../api/aggregate-message.ts';
import { type FieldError, FieldErrors } from '../api/field-errors.ts';
import { quote } from '../util/go-quote.ts';
import { isJsonObject } from '../encoding/json.ts';
import type { DuplicateKeys } from '../encoding/json-parser.ts';
import type { Json } from '../encoding/json-types.ts';
import { subdomainName } from '../api/names.ts';
import { LEVELS, STAGES } from './event.ts';
import type { GroupResources, AuditPolicy, AuditRule } from './policy.ts';

const KIND = 'Policy';
const API_VERSION = 'audit.k8s.io/v1';
const MAX_SHOWN_CHARACTERS = 200;

const groupResources = structOf('v1.GroupResources', { group: TEXT, resources: listOf(TEXT), resourceNames: listOf(TEXT) });
const rule = structOf('v1.PolicyRule', {
  level: TEXT,
  users: listOf(TEXT),
  userGroups: listOf(TEXT),
  verbs: listOf(TEXT),
  resources: listOf(groupResources),
  namespaces: listOf(TEXT),
  nonResourceURLs: listOf(TEXT),
  omitStages: listOf(TEXT),
  omitManagedFields: optional(FLAG),
});
const schema = structOf('v1.Policy', {
  kind: TEXT,
  apiVersion: TEXT,
  metadata: { type: 'any' },
  rules: listOf(rule),
  omitStages: listOf(TEXT),
  omitManagedFields: FLAG,
});

/** `--audit-policy-file`. Throws an Error in upstream's words (apiserver/pkg/audit/policy/reader.go). `warn` is told of fields that it does not know. */
export async function loadPolicy(path: string, warn: (message: string) => void): Promise<AuditPolicy> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`failed to read file path ${quote(path)}: ${(error as Error).message}`, { cause: error });
  }
  try {
    return await parsePolicy(text, warn);
  } catch (error) {
    throw new Error(`${(error as Error).message}: from file ${path}`, { cause: error });
  }
}

export async function parsePolicy(text: string, warn: (message: string) => void): Promise<AuditPolicy> {
  const policy = await decodePolicy(text, warn);
  const errors = new FieldErrors();
  validatePolicy(policy, errors);
  if (!errors.isEmpty) throw new Error(aggregateMessage(errors.list.map(messageOf)));
  if (policy.rules === undefined) throw new Error('loaded illegal policy with 0 rules');
  return policy;
}

const messageOf = ({ field, body }: FieldError): string => `${field}: ${body}`;

async function decodePolicy(text: string, warn: (message: string) => void): Promise<AuditPolicy> {
  const { parseYaml } = await import('../encoding/yaml.ts');
  const duplicates: DuplicateKeys = new Map();
  const strict = { duplicates, errors: [] as string[] };
  let policy: AuditPolicy;
  try {
    const value = parseYaml(text, duplicates);
    checkType(value);
    policy = decode(schema, value, strict) as unknown as AuditPolicy;
  } catch (error) {
    throw error instanceof UnknownVersion ? error : new Error(`failed decoding: ${(error as Error).message}`, { cause: error });
  }
  if (strict.errors.length > 0) warn(`Audit policy contains errors, falling back to lenient decoding: strict decoding error: ${strict.errors.join(', ')}`);
  return policy;
}

/** What says nothing of its type is taken for upstream's internal one, which is no file's. */
class UnknownVersion extends Error {}

function checkType(value: Json): void {
  if (!isJsonObject(value)) throw new Error("couldn't get version/kind; json parse error: the document is no object");
  const { kind = '', apiVersion = '' } = value;
  if (kind === '' && apiVersion === '') throw new UnknownVersion('unknown group version field audit.k8s.io/__internal, Kind=Policy in policy');
  if (kind === '') throw new Error(`Object 'Kind' is missing in '${JSON.stringify(value).slice(0, MAX_SHOWN_CHARACTERS)}'`);
  if (kind !== KIND || apiVersion !== API_VERSION)
    throw new Error(`no kind ${quote(String(kind))} is registered for version ${quote(String(apiVersion))}; expected ${KIND} of ${API_VERSION}`);
}

/** apiserver/pkg/apis/audit/validation. */
function validatePolicy({ rules = [], omitStages }: AuditPolicy, errors: FieldErrors): void {
  validateStages(omitStages, errors.at('omitStages'));
  for (const [index, one] of rules.entries()) validateRule(one, errors.at('rules').index(index));
}

function validateRule({ level, nonResourceURLs, resources = [], namespaces = [], omitStages }: AuditRule, errors: FieldErrors): void {
  if (!level) errors.at('level').required();
  else if (!LEVELS.includes(level)) errors.at('level').notSupported(level, LEVELS);
  for (const [index, url] of (nonResourceURLs ?? []).entries()) validateUrl(url, errors.at('nonResourceURLs').index(index));
  for (const one of resources) validateResources(one, errors.at('resources'));
  validateStages(omitStages, errors.at('omitStages'));
  if (nonResourceURLs && (resources.length > 0 || namespaces.length > 0))
    errors.at('nonResourceURLs').invalid(nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs');
}

function validateUrl(url: string, errors: FieldErrors): void {
  if (url === '*') return;
  if (!url.startsWith('/')) errors.invalid(url, "non-resource URL rules must begin with a '/' character");
  if (url.slice(0, -1).includes('*')) errors.invalid(url, "non-resource URL wildcards '*' must be the final character of the rule");
}

/** Upstream's errors do not say which of the list they mean. */
function validateResources({ group = '', resources = [], resourceNames = [] }: GroupResources, errors: FieldErrors): void {
  const nameErrors = group === '' || group === '*' ? [] : subdomainName(group, false);
  if (nameErrors.length > 0) errors.at('group').invalid(group, nameErrors.join(','));
  if (resourceNames.length > 0 && resources.length === 0)
    errors.at('resourceNames').invalid(resourceNames, 'using resourceNames requires at least one resource');
}

function validateStages(stages: AuditPolicy['omitStages'], errors: FieldErrors): void {
  for (const [index, stage] of (stages ?? []).entries()) {
    if (!STAGES.includes(stage)) errors.index(index).invalid(stage, `allowed stages are ${STAGES.join(',')}`);
  }
}
