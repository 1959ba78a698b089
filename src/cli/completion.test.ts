import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runCommand } from './command.ts';

async function scriptFor(shell: string): Promise<string> {
  let text = '';
  expect(await runCommand(['node', 'binnacle', 'completion', shell], { stdout: (more) => (text += more), stderr() {}, columns: 0 })).toBe(0);
  return text;
}

/** What bash offers for the last of the words. */
function offered(script: string, ...words: string[]): string[] {
  const program = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})\nCOMP_CWORD=${words.length - 1}\n_binnacle\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).trim().split('\n');
}

test('bash completes commands, their own flags, and those of a server', async () => {
  const script = await scriptFor('bash');
  expect(offered(script, 'binnacle', 's')).toEqual(['status', 'serve', 'store']);
  expect(offered(script, 'binnacle', 'help', 'mig')).toEqual(['migrate']);
  expect(offered(script, 'binnacle', 'up', '--de')).toContain('--detach');
  expect(offered(script, 'binnacle', 'up', '--event-t')).toEqual(['--event-ttl']);
  expect(offered(script, 'binnacle', 'kubeconfig', '--')).toEqual(['--data-dir', '--group', '--help', '--name', '--user']);
});

test('zsh and fish know the same commands', async () => {
  const [zsh, fish] = await Promise.all([scriptFor('zsh'), scriptFor('fish')]);
  expect(zsh).toMatch(/^#compdef binnacle\n/);
  expect(zsh).toContain("'up:Start a cluster for this machine\\: no flags needed'");
  expect(fish).toContain("complete -c binnacle -n '__fish_seen_subcommand_from up' -l watch\n");
  expect(fish).toContain('complete -c binnacle -n __fish_use_subcommand -f -a status -d ');
});

test('another shell is refused', async () => {
  let message = '';
  expect(await runCommand(['node', 'binnacle', 'completion', 'tcsh'], { stdout() {}, stderr: (text) => (message += text), columns: 0 })).toBe(1);
  expect(message).toBe('error: "binnacle completion" takes a shell, one of bash, zsh, fish, not tcsh\n');
});
