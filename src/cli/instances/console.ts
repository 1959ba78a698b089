import { join } from 'node:path';
import { type RemoteEndpoint, loadUserKubeconfig } from '../../client/kubeconfig.ts';
import { WebhookClient, WebhookError } from '../../client/webhook-client.ts';
import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import { noArguments, readOwnFlags } from '../commands/own-flags.ts';
import { type Instance, folderOf, runningInstance } from './instance.ts';

const FLAGS = { name: { type: 'string' }, 'data-dir': { type: 'string' }, kubeconfig: { type: 'string' } } as const;

/** `binnacle console`: prints a link that signs in once, as the user of a kubeconfig. */
export async function console(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, FLAGS);
  noArguments('binnacle console', positionals);
  if (typeof values['kubeconfig'] === 'string') return output.stdout(`${await linkFor(values['kubeconfig'])}\n`);
  const folder = folderOf(values);
  const instance = runningInstance(folder);
  if (!instance) throw new CommandError(`no server runs in ${folder}: start one with binnacle up`);
  output.stdout(`${await newConsoleLink(instance)}\n`);
}

/** As its administrator. */
export const newConsoleLink = ({ folder }: Instance): Promise<string> => linkFor(join(folder, 'kubeconfig'));

async function linkFor(kubeconfigFile: string): Promise<string> {
  const endpoint = await readingKubeconfig(kubeconfigFile);
  const base = endpoint.url.href.replace(/\/$/, '');
  const client = new WebhookClient({ ...endpoint, url: new URL(`${base}/console/code`) });
  try {
    const { code } = JSON.parse((await client.post('{}')).toString()) as { code: string };
    return `${base}/console/#code=${code}`;
  } catch (error) {
    const isMissing = error instanceof WebhookError && error.status === 404;
    throw new CommandError(isMissing ? `the server at ${base} has no console: start it with --console` : (error as Error).message);
  } finally {
    client.close();
  }
}

async function readingKubeconfig(file: string): Promise<RemoteEndpoint> {
  try {
    return await loadUserKubeconfig(file);
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

export const consoleHelp = (program: string): string => `Prints a link to the console of a server: the page that shows it live. The link signs in once, within a
quarter of an hour, as the administrator of a server that \`binnacle up\` has started, or as the user of a kubeconfig.

Usage:
  ${program} [flags]

Flags:
      --kubeconfig string   the server and user of this file's current context
      --name string         the instance of this name
      --data-dir string     the one in this folder (default ".binnacle")
`;
