import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { ApiHistory } from '../../history/api-history.ts';
import { isBookkeeping } from '../../history/change-fields.ts';
import type { ClusterClient } from '../../history/cluster-client.ts';
import { pathOf } from '../../history/cluster-resources.ts';
import type { ChangeVersions, ObjectChange } from '../../history/history-source.ts';
import { memberOf, textOf } from '../../history/json-fields.ts';
import { hasMasked } from '../../history/masked-values.ts';
import { type FieldChange, type FieldPath, deltaOf, pathText, valueAt } from '../../history/object-delta.ts';
import { splitKey } from '../../history/resource-choice.ts';
import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import { onlyArgument, readOwnFlags } from '../commands/own-flags.ts';
import { hiddenIn, valueText, whoText } from './change-text.ts';
import { SOURCE_FLAGS, connect, objectText } from './history-flags.ts';
import { timeText } from './moments.ts';
import { REWRITING_FLAGS, REWRITING_HELP, asSent, currentObject, rewrite } from './rewriting.ts';

const FIELD_MANAGER = 'binnacle-undo';

interface UndoFlags {
  isForced: boolean;
  isSure: boolean;
  isDryRun: boolean;
}

/** `binnacle undo c-000000001234`: takes one change back, unless its fields were changed since. */
export async function undo(args: readonly string[], output: Output): Promise<void> {
  const { kubeconfig, context } = SOURCE_FLAGS;
  const { values, positionals } = readOwnFlags(args, { kubeconfig, context, ...REWRITING_FLAGS, force: { type: 'boolean' } });
  const id = onlyArgument('binnacle undo', 'change (c-…, as `binnacle log` shows it)', positionals);
  const client = await connect(values);
  const source = await ApiHistory.open(client);
  try {
    const change = await source.change(id);
    if (!change) throw new CommandError(`there is no change ${id}, or you may not see it`);
    const flags = { isForced: values['force'] === true, isSure: values['yes'] === true, isDryRun: values['dry-run'] === true };
    await takeBack(client, change, flags, output);
  } finally {
    await source.close();
  }
}

async function takeBack(client: ClusterClient, change: ObjectChange, flags: UndoFlags, output: Output): Promise<void> {
  const { resource, key } = change;
  const versions = await change.versions();
  const current = await currentObject(client, pathOf(resource, key));
  const name = objectText(resource, key);
  output.stdout(`${change.id}, by ${whoText(change)} at ${timeText(change.timeMs)}\n`);
  if (change.type === 'created') {
    if (!current) return output.stdout(`${name} is gone already.\n`);
    refuseConflicts(current, versions.after, deltaOf(asSent(versions.after!), {}), flags, output);
    const { uid, resourceVersion } = memberOf(current, 'metadata');
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: uid!, resourceVersion: resourceVersion! } };
    return rewrite(client, { method: 'DELETE', path: pathOf(resource, key), body, current, name, fieldManager: FIELD_MANAGER }, flags, output);
  }
  if (change.type === 'deleted') {
    if (current) throw new CommandError(`there is a ${name} again: \`binnacle restore\` puts it back as it was`);
    const path = pathOf(resource, `${splitKey(key).namespace}/`);
    return rewrite(client, { method: 'POST', path, body: asSent(versions.before!), current, name, fieldManager: FIELD_MANAGER }, flags, output);
  }
  if (!current) throw new CommandError(`${name} is gone: \`binnacle restore\` can make it again`);
  return patchBack(client, change, versions, current, flags, output);
}

async function patchBack(
  client: ClusterClient,
  change: ObjectChange,
  versions: ChangeVersions,
  current: JsonObject,
  flags: UndoFlags,
  output: Output,
): Promise<void> {
  const { resource, key, author } = change;
  const reverse = deltaOf(versions.after!, versions.before!).filter(([path]) => !isBookkeeping(path));
  const open = reverse.filter(([path, to]) => !isEqual(valueAt(current, path), to));
  const name = objectText(resource, key);
  if (open.some(([path]) => hasMasked(valueAt(versions.before, path)) || hasMasked(valueAt(versions.after, path))))
    throw new CommandError(`the values of ${name} are not in the history, only when they changed (--history-secrets)`);
  if (open.length === 0) return output.stdout(`${name} is as it was before.\n`);
  refuseConflicts(current, versions.after, open, flags, output);
  const subresource = author?.subresource === 'status' ? '/status' : '';
  const test = { op: 'test', path: '/metadata/resourceVersion', value: memberOf(current, 'metadata')['resourceVersion']! };
  const body = [test, ...open.map((field) => operationOf(current, field))];
  const plan = { method: 'PATCH', path: pathOf(resource, key) + subresource, body, contentType: 'application/json-patch+json', current, name } as const;
  return rewrite(client, { ...plan, fieldManager: FIELD_MANAGER }, flags, output);
}

function operationOf(current: JsonObject, [path, value]: FieldChange): JsonObject {
  const pointer = path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  if (value === undefined) return { op: 'remove', path: pointer };
  return { op: valueAt(current, path) === undefined ? 'add' : 'replace', path: pointer, value };
}

/** Fields that are no longer what the change made of them. */
function refuseConflicts(current: JsonObject, after: JsonObject | undefined, fields: readonly FieldChange[], { isForced }: UndoFlags, output: Output): void {
  const changed = fields.map(([path]) => path).filter((path) => !isEqual(valueAt(current, path), valueAt(after, path)));
  const kind = { kind: textOf(current['kind']) };
  const shown = (path: FieldPath, object: JsonObject | undefined): string => valueText(hiddenIn(kind, pathText(path), valueAt(object, path)));
  const text = (path: FieldPath): string => `    ${pathText(path)}: ${shown(path, after)} → ${shown(path, current)}\n`;
  for (const [index, path] of changed.entries()) output.stdout((index === 0 ? 'Changed since:\n' : '') + text(path));
  if (changed.length > 0 && !isForced) throw new CommandError('nothing was changed: fields of it have been changed since; --force takes them back too');
}

const isEqual = (a: Json | undefined, b: Json | undefined): boolean => (a === undefined || b === undefined ? a === b : deltaOf(a, b).length === 0);

export const undoHelp = (
  program: string,
): string => `Takes one change back: fields get the values that they had before it, an object that it made is deleted, and
one that it deleted is made again. The server tries it first (dry run), and what it would do is shown.
Fields that were changed since are shown, and nothing is done, unless --force is given.

Usage:
  ${program} c-000000001234 [flags]

Flags:
      --kubeconfig string   the server; default: $KUBECONFIG, or ~/.kube/config
      --context string      a context of it; default: its current one
${REWRITING_HELP}      --force               also where its fields were changed since

\`binnacle log\` shows the names of changes.
`;
