import { pathOf } from '../../history/cluster-resources.ts';
import { memberOf } from '../../history/json-fields.ts';
import { splitKey } from '../../history/resource-choice.ts';
import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import { readOwnFlags } from '../commands/own-flags.ts';
import {
  NAMESPACE_FLAG,
  SOURCE_FLAGS,
  SOURCE_HELP,
  TIME_HELP,
  connect,
  objectText,
  onlyOne,
  readObjectChoice,
  textFlag,
  withHistory,
} from './history-flags.ts';
import { parseMoment } from './moments.ts';
import { REWRITING_FLAGS, REWRITING_HELP, asSent, currentObject, rewrite } from './rewriting.ts';

const FIELD_MANAGER = 'binnacle-restore';

/** Whether `binnacle restore` is to put an object back, and not a store. */
export const isObjectRestore = (args: readonly string[]): boolean => args.some((word) => word === '--at' || word.startsWith('--at='));

/** `binnacle restore deploy/web --at 10:00`: puts an object back as it was then. */
export async function restoreObject(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, { ...SOURCE_FLAGS, ...NAMESPACE_FLAG, ...REWRITING_FLAGS, at: { type: 'string' } });
  const choice = readObjectChoice('binnacle restore', positionals, textFlag(values, 'namespace'));
  const found = await withHistory(values, async (source) => {
    const moment = parseMoment('--at', textFlag(values, 'at')!, await source.endMs());
    return onlyOne(await source.stateAt(moment, choice));
  });
  if (!found) throw new CommandError('there was no such object then');
  const { resource, key, object } = found;
  const client = await connect(values);
  try {
    const current = await currentObject(client, pathOf(resource, key));
    const name = objectText(resource, key);
    const flags = { isSure: values['yes'] === true, isDryRun: values['dry-run'] === true };
    if (!current) {
      const path = pathOf(resource, resource.namespaced ? `${splitKey(key).namespace}/` : '');
      return await rewrite(client, { method: 'POST', path, body: asSent(object), current, name, fieldManager: FIELD_MANAGER }, flags, output);
    }
    const { uid, resourceVersion } = memberOf(current, 'metadata');
    const sent = asSent(object);
    const body = { ...sent, metadata: { ...memberOf(sent, 'metadata'), uid: uid!, resourceVersion: resourceVersion! } };
    await rewrite(client, { method: 'PUT', path: pathOf(resource, key), body, current, name, fieldManager: FIELD_MANAGER }, flags, output);
  } finally {
    client.close();
  }
}

export const restoreObjectHelp = (program: string): string => `
Or puts an object back as it was at a moment: changes it, or makes it again. The server tries it first
(dry run), and what it would do is shown. Its status is the server's and stays.

Usage:
  ${program} TYPE/NAME --at 10:00 [flags]

Flags:
      --at string           ${TIME_HELP};
                            or a resourceVersion
${SOURCE_HELP}  -n, --namespace string    its namespace; needed where several have an object of that name
${REWRITING_HELP}`;
