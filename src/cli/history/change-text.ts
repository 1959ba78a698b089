import { stringifyUnescaped } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import type { ChangedField, ObjectChange } from '../../history/history-source.ts';
import { hasMasked } from '../../history/masked-values.ts';
import type { Segment } from './screen.ts';

const MAX_VALUE_CHARACTERS = 120;
/** As `kubectl diff` has it. */
const HIDDEN = '***';
const SECRET_PATH = /^(data|stringData)\b|last-applied-configuration/;

/** Values of Secrets are not for screens: `-o json` has them, where they are known. */
export function hiddenIn<T extends Json | undefined>({ kind }: { kind: string }, path: string, value: T): T | string {
  return kind === 'Secret' && value !== undefined && SECRET_PATH.test(path) && !hasMasked(value) ? HIDDEN : value;
}

/** The same of changed fields. */
export const hiddenFields = (resource: { kind: string }, fields: readonly ChangedField[]): ChangedField[] =>
  fields.map(({ path, from, to }) => ({ path, from: hiddenIn(resource, path, from), to: hiddenIn(resource, path, to) }));

export function valueText(value: Json | undefined): string {
  if (value === undefined) return 'none';
  if (typeof value === 'string' && hasMasked(value)) return '(not kept)';
  if (value === HIDDEN) return HIDDEN;
  const text = stringifyUnescaped(value);
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
}

/** `jane via kubectl-set`, `admin as jane via kubectl-set`; the managers alone where nobody knows the user. */
export function whoText({ author, managers }: Pick<ObjectChange, 'author' | 'managers'>): string {
  const manager = managers.join(', ');
  if (!author?.username) return manager || '-';
  const user = author.impersonator === undefined ? author.username : `${author.impersonator} as ${author.username}`;
  return manager === '' ? user : `${user} via ${manager}`;
}

/** What was done: the verb of the request where it is known. */
export function verbText({ author, type }: Pick<ObjectChange, 'author' | 'type'>): string {
  if (!author?.verb) return type === 'seen' ? 'first seen' : type;
  return author.subresource === '' ? author.verb : `${author.verb} ${author.subresource}`;
}

/** `spec.replicas: 1 → 3` */
export const fieldSegments = ({ path, from, to }: ChangedField, separator = ''): Segment[] => [
  [separator],
  [path, 'path'],
  [': '],
  [valueText(from), 'removed'],
  [' → ', 'faint'],
  [valueText(to), 'added'],
];

/** All of them, in one line. */
export const fieldsSegments = (fields: readonly ChangedField[]): Segment[] => fields.flatMap((field, index) => fieldSegments(field, index === 0 ? '' : ', '));

/** One change, as `-o json` prints it. */
export function changeJson(change: ObjectChange): JsonObject {
  const { id, timeMs, resource, key, author, managers, type, fields, gapSinceMs, resourceVersion } = change;
  return {
    ...(id !== undefined && { change: id }),
    time: new Date(timeMs).toISOString(),
    group: resource.group,
    version: resource.version,
    resource: resource.plural,
    key,
    ...(author && {
      user: author.username,
      ...(author.impersonator !== undefined && { impersonator: author.impersonator }),
      userAgent: author.userAgent,
      verb: author.verb,
      ...(author.subresource !== '' && { subresource: author.subresource }),
      auditID: author.auditId,
    }),
    managers: [...managers],
    type,
    resourceVersion,
    fields: fields.map(({ path, from, to }) => ({ path, from: from ?? null, to: to ?? null })),
    ...(gapSinceMs !== undefined && { notWatchedSince: new Date(gapSinceMs).toISOString() }),
  };
}
