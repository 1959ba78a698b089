import { createInterface } from 'node:readline/promises';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { printedFields } from '../../history/change-fields.ts';
import { type ClusterClient, ClusterError } from '../../history/cluster-client.ts';
import { memberOf, textOf } from '../../history/json-fields.ts';
import { hasMasked } from '../../history/masked-values.ts';
import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import { fieldSegments, hiddenFields } from './change-text.ts';
import { Screen } from './screen.ts';

/** A write that takes something back. */
interface Rewriting {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body: Json;
  contentType?: string;
  /** The object as it is; undefined where there is none. */
  current: JsonObject | undefined;
  /** `deployment/web -n shop` */
  name: string;
  fieldManager: string;
}

interface RewritingFlags {
  isSure: boolean;
  isDryRun: boolean;
}

const NOT_FOUND = 404;

/** Tries the write without storing it, shows what it would do, asks, and does it. */
export async function rewrite(client: ClusterClient, plan: Rewriting, { isSure, isDryRun }: RewritingFlags, output: Output): Promise<void> {
  const { method, body, current, name } = plan;
  if (hasMasked(body)) throw new CommandError(`the values of ${name} are not in the history, only when they changed (--history-secrets)`);
  const send = (isTried: boolean): Promise<JsonObject> =>
    sent(client, plan, isTried).catch((error: Error) => {
      throw error instanceof ClusterError ? new CommandError(`the server refuses it: ${error.message.slice(error.message.indexOf(': ') + 2)}`) : error;
    });
  const result = await send(true);
  await showEffect(new Screen(output), name, current, method === 'DELETE' ? undefined : result);
  if (isDryRun) return output.stdout('Nothing was changed: this was a dry run.\n');
  if (!isSure && !(await confirmed(output))) return output.stdout('Nothing was changed.\n');
  await send(false);
  output.stdout(`${name}: ${method === 'DELETE' ? 'deleted' : current === undefined ? 'created' : 'changed'}\n`);
}

/** Of a deletion, the options of the body count, and those of the query do not (apiserver/pkg/endpoints/handlers/delete.go). */
function sent(client: ClusterClient, { method, path, body, contentType, fieldManager }: Rewriting, isTried: boolean): Promise<JsonObject> {
  if (method === 'DELETE') return client.send(method, path, { ...(body as JsonObject), ...(isTried && { dryRun: ['All'] }) });
  return client.send(method, `${path}?fieldManager=${fieldManager}${isTried ? '&dryRun=All' : ''}`, body, contentType);
}

async function showEffect(screen: Screen, name: string, before: JsonObject | undefined, after: JsonObject | undefined): Promise<void> {
  const sign = before === undefined ? '+' : after === undefined ? '-' : '~';
  screen.line([`${sign} `, sign === '+' ? 'added' : sign === '-' ? 'removed' : 'time'], [name, 'name']);
  if (before && after)
    for (const field of hiddenFields({ kind: textOf(before['kind']) }, printedFields(before, after))) screen.line(['    '], ...fieldSegments(field));
  await screen.end();
}

/** Without a terminal there is nobody to ask. */
async function confirmed(output: Output): Promise<boolean> {
  if (!process.stdin.isTTY || output.columns === 0) throw new CommandError('nothing was changed: give --yes to do it');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question('Do it? [y/N] ')).trim());
  } finally {
    terminal.close();
  }
}

/** Undefined where there is none. */
export async function currentObject(client: ClusterClient, path: string): Promise<JsonObject | undefined> {
  try {
    return await client.get(path);
  } catch (error) {
    if (error instanceof ClusterError && error.status === NOT_FOUND) return undefined;
    throw error;
  }
}

/** What the server gives an object itself. */
const SERVERS_OWN = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
]);

/** The object as a client would send it. */
export function asSent({ status: _status, ...object }: JsonObject): JsonObject {
  const metadata = Object.fromEntries(Object.entries(memberOf(object, 'metadata')).filter(([field]) => !SERVERS_OWN.has(field)));
  return { ...object, metadata: metadata as JsonObject };
}

export const REWRITING_FLAGS = {
  yes: { type: 'boolean', short: 'y' },
  'dry-run': { type: 'boolean' },
} as const;

export const REWRITING_HELP = `      --dry-run             only show what it would do
  -y, --yes                 do it without asking
`;
