import type { ResourcePath } from '../api/resource-path.ts';
import { formatPath } from '../api/resource-path.ts';
import { commandLine } from '../objects/kubectl.ts';

/** One write of one object, as `history.binnacle.dev` tells it. */
export interface Change {
  metadata: { name: string; namespace?: string; resourceVersion?: string };
  object: { group?: string; version: string; resource: string; kind: string; namespace?: string; name: string; uid: string };
  time: string;
  type: 'created' | 'modified' | 'deleted';
  verb: string;
  subresource?: string;
  user?: { username: string; groups?: string[] };
  impersonator?: { username: string };
  userAgent?: string;
  fieldManager?: string;
  auditID?: string;
  objectResourceVersion?: string;
  previousResourceVersion?: string;
  fields?: { path: string; from?: unknown; to?: unknown }[];
}

const ROOT = '/apis/history.binnacle.dev/v1alpha1';

/** What was written to a collection, or to one object of it. */
export function changesRequest({ group, plural, namespace, name }: Pick<ResourcePath, 'group' | 'plural' | 'namespace' | 'name'>): {
  path: string;
  fieldSelector: string;
} {
  const fields = [`object.group=${group}`, `object.resource=${plural}`, ...(name === undefined ? [] : [`object.name=${name}`])];
  return { path: changesPath(namespace ?? ''), fieldSelector: fields.join(',') };
}

/** The path at which a moment of a collection or an object is. */
export const pastPath = (place: ResourcePath): string => `${ROOT}/objects${formatPath(place)}`;

export const pastCommand = (place: ResourcePath, at: string): string => commandLine('get', '--raw', `${pastPath(place)}?at=${encodeURIComponent(at)}`);

/** Everything that was written to objects of a namespace, or to all objects where none is named. */
export const changesPath = (namespace: string): string =>
  namespace === '' ? `${ROOT}/changes` : `${ROOT}/namespaces/${encodeURIComponent(namespace)}/changes`;

export const changesCommand = (namespace: string): string =>
  commandLine('get', 'changes.history.binnacle.dev', ...(namespace === '' ? ['-A'] : ['-n', namespace]), '--watch');

/** `Deployment shop/web`, `Namespace shop`. */
export const objectLabel = ({ object: { kind, namespace = '', name } }: Change): string => `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;

/** Where the console shows what was changed, as it was right after. */
export function addressOf({ object, objectResourceVersion }: Change): string {
  const { group = '', version, resource, namespace, name } = object;
  const path = formatPath({ group, version, plural: resource, name, ...(namespace !== undefined && namespace !== '' && { namespace }) });
  return objectResourceVersion === undefined ? path : `${path}?at=${objectResourceVersion}`;
}

/** `jane`, or `admin as jane` where somebody spoke for another. */
export const authorOf = ({ user, impersonator }: Change): string =>
  impersonator === undefined ? (user?.username ?? 'unknown') : `${impersonator.username} as ${user?.username ?? 'unknown'}`;

const MAX_FIELDS = 2;

/** `spec.replicas: 1 → 3, and 4 more`. */
export function summaryOf({ type, fields = [] }: Change): string {
  if (type !== 'modified') return type;
  const shown = fields.slice(0, MAX_FIELDS).map(({ path, from, to }) => `${path}: ${short(from)} → ${short(to)}`);
  return fields.length === 0
    ? 'nothing but its metadata'
    : fields.length > MAX_FIELDS
      ? `${shown.join(', ')}, and ${fields.length - MAX_FIELDS} more`
      : shown.join(', ');
}

const MAX_LENGTH = 40;
const MAX_LONG_LENGTH = 240;

const short = (value: unknown): string => (value === undefined ? 'nothing' : valueText(value, MAX_LENGTH));

/** A value of any type, of which only the begin is shown where it is long. */
export function valueText(value: unknown, limit = MAX_LONG_LENGTH): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

/** The last change at or before a moment, which is a time or a version; changes are oldest first. */
export function changeAt(changes: readonly Change[], at: string): Change | undefined {
  const isVersion = /^\d+$/.test(at);
  const isBefore = ({ time, objectResourceVersion = '0' }: Change): boolean =>
    isVersion ? Number(objectResourceVersion) <= Number(at) : Date.parse(time) <= Date.parse(at);
  return changes.findLast(isBefore);
}

/** When a moment was, in milliseconds; nothing for a version that no change has. */
export function momentMs(changes: readonly Change[], at: string): number | undefined {
  if (!/^\d+$/.test(at)) return Date.parse(at);
  const change = changeAt(changes, at);
  return change === undefined ? undefined : Date.parse(change.time);
}
