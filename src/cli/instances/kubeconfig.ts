import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { kubeconfigText } from '../../compose/cluster.ts';
import { readIfThere } from '../../compose/files.ts';
import { CommandError } from '../../options/command-error.ts';
import { loadAuthority, signCertificate } from '../../serving/certificates/create.ts';
import type { Output } from '../command.ts';
import { noArguments, readingFlags } from '../commands/own-flags.ts';
import { folderOf, runningInstance } from './instance.ts';

/** `binnacle kubeconfig`: prints one for the administrator, or for a user whose certificate is made now. */
export async function kubeconfig(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readingFlags(() =>
    parseArgs({
      args: [...args],
      options: { name: { type: 'string' }, 'data-dir': { type: 'string' }, user: { type: 'string' }, group: { type: 'string', multiple: true } },
      allowPositionals: true,
    }),
  );
  noArguments('binnacle kubeconfig', positionals);
  const { user, group: groups = [] } = values;
  if (user === undefined && groups.length > 0) throw new CommandError('--group needs --user: the administrator has its group');
  if (user === '') throw new CommandError('--user takes a name');
  const folder = folderOf(values);
  const instance = runningInstance(folder);
  if (!instance) throw new CommandError(`no server runs in ${folder}: start one with binnacle up`);
  const read = (file: string): string => {
    const text = readIfThere(join(folder, file));
    if (text === undefined) throw new CommandError(`there is no ${join(folder, file)}`);
    return text;
  };
  if (user === undefined) return output.stdout(read('kubeconfig'));
  const caCertificate = read('certificates/ca.crt');
  const authority = loadAuthority({ certPem: caCertificate, keyPem: read('certificates/ca.key') });
  const credentials = signCertificate(authority, { commonName: user, organizations: groups, usages: ['client'] });
  output.stdout(kubeconfigText({ url: instance.url, caCertificate, user, credentials }));
}

export const kubeconfigHelp = (
  program: string,
): string => `Prints a kubeconfig for a server that \`binnacle up\` has started: the administrator's, or one for a user with a
client certificate that is made now. The user may do what the roles that are bound to it and its groups may do.

Usage:
  ${program} [flags]

  binnacle kubeconfig --user jane --group devs > jane.kubeconfig

Flags:
      --user string       the user's name
      --group string      a group of the user; may be given several times
      --name string       of the instance with this name
      --data-dir string   of the one in this folder (default ".binnacle")
`;
