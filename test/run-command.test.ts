import { execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, inject, test } from 'vitest';
import { KUBECTL } from './support/paths.ts';
import { temporaryFolder } from './support/server.ts';

/* `binnacle run -- <command>` as a process, with real commands. */

interface Result {
  code: number | string | null | undefined;
  stdout: string;
  stderr: string;
}

const program = (): string => join(inject('distDir'), 'binnacle.js');

const run = (...args: string[]): Promise<Result> =>
  new Promise((resolve) => {
    execFile(process.execPath, [program(), 'run', ...args], (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr }));
  });

test('the command finds the server by KUBECONFIG, and its output is what there is', async () => {
  const { code, stdout, stderr } = await run('--', KUBECTL, 'get', 'namespaces', '--output=name', '--sort-by=metadata.name');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toEqual(['namespace/default', 'namespace/kube-node-lease', 'namespace/kube-public', 'namespace/kube-system']);
});

test('its exit code and its flags are handed on, and nothing is left', async () => {
  const { code, stdout } = await run('--', 'sh', '-c', 'echo "$KUBECONFIG"; exit 7', '--help');
  expect(code).toBe(7);
  expect(stdout).toMatch(/kubeconfig\n$/);
  expect(existsSync(stdout.trim())).toBe(false);
});

test("flags before the command are the server's", async () => {
  const { stdout } = await run('--service-cluster-ip-range=10.99.0.0/16', '--', KUBECTL, 'get', 'service', 'kubernetes', '--output=jsonpath={.spec.clusterIP}');
  expect(stdout).toBe('10.99.0.1');
});

test('definitions and manifests are there when the command starts', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'object.yaml'), 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n');
  expect((await run('--apply', folder, '--', KUBECTL, 'get', 'namespace', 'team', '--output=name')).stdout).toBe('namespace/team\n');
  expect(await run('--crds', folder, '--', 'true')).toMatchObject({ code: 1, stderr: 'error: there is no CustomResourceDefinition in what `crds` names\n' });
  expect(await run('--detach', '--', 'true')).toMatchObject({
    code: 1,
    stderr: 'error: "binnacle run" has a server of its own: --detach, --watch and --name are for binnacle up\n',
  });
});

test('a signal reaches the command, and how it ended is how this ends', async () => {
  const child = spawn(process.execPath, [program(), 'run', '--', 'sh', '-c', 'trap "echo stopping; exit 3" TERM; echo ready; while :; do sleep 0.05; done'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines: string[] = [];
  const ended = new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line === 'ready') child.kill('SIGTERM');
  }
  expect(lines).toEqual(['ready', 'stopping']);
  expect(await ended).toEqual({ code: 3, signal: null });
});

test('a command that a signal ended ends this by the same signal', async () => {
  const child = spawn(process.execPath, [program(), 'run', '--', 'sh', '-c', 'kill -TERM $$'], { stdio: 'ignore' });
  expect(await new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })))).toEqual({ code: null, signal: 'SIGTERM' });
});

test('what is wrong is said in one line', async () => {
  const plain = join(temporaryFolder(), 'plain');
  writeFileSync(plain, 'no program');
  chmodSync(plain, 0o600);
  expect(await run()).toEqual({ code: 1, stdout: '', stderr: 'error: "binnacle run" takes the command to run after "--": binnacle run -- npm test\n' });
  expect(await run('--', 'no-such-command-here')).toEqual({ code: 127, stdout: '', stderr: 'error: cannot run "no-such-command-here": no such command\n' });
  expect(await run('--', plain)).toEqual({ code: 126, stdout: '', stderr: `error: cannot run ${JSON.stringify(plain)}: permission denied\n` });
  const unknownFlag = await run('--no-such-flag', '--', 'true');
  expect(unknownFlag.code).toBe(1);
  expect(unknownFlag.stderr).toBe('error: unknown flag: --no-such-flag; `binnacle help serve` lists all flags\n');
  expect((await run('--help')).stdout).toContain('binnacle run [flags] -- <command>');
});
