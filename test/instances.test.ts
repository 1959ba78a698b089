import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { KUBECTL } from './support/paths.ts';
import { temporaryFolder } from './support/server.ts';

/* `binnacle up --detach`, status, kubeconfig and down, as processes; named instances in a data folder of the test's own. */

const home = temporaryFolder();
const env = { ...process.env, XDG_DATA_HOME: home };

interface Result {
  code: number | string | null | undefined;
  stdout: string;
  stderr: string;
}

const execute = (file: string, args: readonly string[], cwd: string): Promise<Result> =>
  new Promise((resolve) => {
    execFile(file, args, { cwd, env }, (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr }));
  });

const binnacle = (args: readonly string[], cwd = home): Promise<Result> => execute(process.execPath, [join(inject('distDir'), 'binnacle.js'), ...args], cwd);

/** As the page does with a link; answers with who it is. */
function signIn(link: string): Promise<string> {
  const [, origin, code] = /^(https:\/\/127\.0\.0\.1:\d+)\/console\/#code=([\w-]+)$/.exec(link)!;
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, rejectUnauthorized: false };
    const post = request(`${origin}/console/session`, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => void (text += part));
      response.on('end', () => (response.statusCode === 200 ? resolve(JSON.parse(text).user.username) : reject(new Error(`${response.statusCode}: ${text}`))));
    });
    post.once('error', reject);
    post.end(JSON.stringify({ code }));
  });
}

const folders = [temporaryFolder(), temporaryFolder(), temporaryFolder()] as const;
afterAll(async () => {
  await Promise.all([...folders.map((folder) => binnacle(['down'], folder)), binnacle(['down', '--name=one']), binnacle(['down', '--name=two'])]);
});

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

test('a server in the background: started, seen, used by a user, stopped, started again with what it had', async () => {
  const [folder] = folders;
  const started = await binnacle(['up', '--detach', '--secure-port=0'], folder);
  expect(started).toMatchObject({ code: 0, stderr: '' });
  expect(started.stdout).toContain('It runs in the background. Stop it with: binnacle down\n');
  const [, url] = /Server {6}(\S+)/.exec(started.stdout)!;
  expect((await binnacle(['status'], folder)).stdout).toMatch(new RegExp(`^NAME +STATE .*\n- +ready +${url} +\\d+s +\\d+ +${join(folder, '.binnacle')}\n`));
  expect(await binnacle(['up', '--detach'], folder)).toMatchObject({
    code: 1,
    stderr: `error: a server runs in ${join(folder, '.binnacle')} already, at ${url}\n`,
  });

  const jane = join(folder, 'jane');
  writeFileSync(jane, (await binnacle(['kubeconfig', '--user', 'jane', '--group', 'devs', '--group', 'system:masters'], folder)).stdout);
  const whoami = await execute(
    KUBECTL,
    [`--kubeconfig=${jane}`, 'auth', 'whoami', '--output=jsonpath={.status.userInfo.username} {.status.userInfo.groups}'],
    folder,
  );
  expect(whoami.stdout).toBe('jane ["devs","system:masters","system:authenticated"]');
  expect((await execute(KUBECTL, [`--kubeconfig=${jane}`, 'create', 'namespace', 'kept'], folder)).code).toBe(0);
  expect((await binnacle(['kubeconfig'], folder)).stdout).toBe(readFileSync(join(folder, '.binnacle/kubeconfig'), 'utf8'));

  const links = [/Console {5}(\S+)\n/.exec(started.stdout)![1]!, (await binnacle(['console'], folder)).stdout.trim()];
  expect(await Promise.all(links.map(signIn))).toEqual(['admin', 'admin']);
  expect(await signIn((await binnacle(['console', `--kubeconfig=${jane}`], folder)).stdout.trim())).toBe('jane');
  await expect(signIn(links[0]!)).rejects.toThrow('401');

  expect(await binnacle(['down'], folder)).toEqual({ code: 0, stdout: `Stopped ${url}\n`, stderr: '' });
  expect(existsSync(join(folder, '.binnacle/instance.json'))).toBe(false);
  expect((await binnacle(['status'], folder)).stdout).not.toContain(folder);
  await binnacle(['up', '--detach', '--secure-port=0'], folder);
  const kept = await execute(KUBECTL, [`--kubeconfig=${join(folder, '.binnacle/kubeconfig')}`, 'get', 'namespace', 'kept', '--output=name'], folder);
  expect(kept.stdout).toBe('namespace/kept\n');
});

test('instances by name, with definitions and manifests; one under a supervisor', async () => {
  const [, folder] = folders;
  writeFileSync(join(folder, 'crd.json'), JSON.stringify(definition));
  writeFileSync(join(folder, 'widget.yaml'), 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: first}\n');
  const [one, two] = await Promise.all([
    binnacle(['up', '--detach', '--name=one', '--secure-port=0', '--crds=crd.json', '--apply', '*.yaml'], folder),
    binnacle(['up', '--detach', '--name', 'two', '--secure-port=0', '--supervised', '--console=false'], folder),
  ]);
  expect([one.stderr, two.stderr]).toEqual(['', '']);
  expect(two.stdout).not.toContain('Console');
  expect((await binnacle(['console', '--name=two'])).stderr).toMatch(/^error: the server at \S+ has no console: start it with --console\n$/);
  expect(one.stdout).toContain('Stop it with: binnacle down --name one\n');
  const admin = join(folder, 'admin');
  writeFileSync(admin, (await binnacle(['kubeconfig', '--name=one'])).stdout);
  expect((await execute(KUBECTL, [`--kubeconfig=${admin}`, 'get', 'widgets', '--output=name'], folder)).stdout).toBe('widget.example.com/first\n');
  expect((await binnacle(['status', '--name=two'])).stdout).toMatch(/\ntwo +ready /);
  expect((await binnacle(['status'])).stdout).toMatch(/\none +ready [^]*\ntwo +ready /);
  expect(await Promise.all([binnacle(['down', '--name=one']), binnacle(['down', '--name=two'])])).toMatchObject([{ code: 0 }, { code: 0 }]);
  expect((await binnacle(['status', '--name=two'])).stdout).toBe('No server runs here. Start one with: binnacle up\n');
});

test('manifests are applied again when they are saved', async () => {
  const folder = temporaryFolder();
  const settings = (color: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {color: ${color}}\n`;
  const file = join(folder, 'settings.yaml');
  writeFileSync(file, settings('blue'));
  const server = spawn(
    process.execPath,
    [join(inject('distDir'), 'binnacle.js'), 'up', '--secure-port=0', '--storage-backend=memory', `--apply=${folder}`, '--watch'],
    { cwd: folder, env },
  );
  try {
    const said = linesOf(server);
    await said(/Ready in/);
    const color = async (): Promise<string> => {
      const args = [`--kubeconfig=${join(folder, '.binnacle/kubeconfig')}`, 'get', 'configmap', 'settings', '--output=jsonpath={.data.color}'];
      return (await execute(KUBECTL, args, folder)).stdout;
    };
    expect(await color()).toBe('blue');
    writeFileSync(file, settings('[no text]'));
    await said(/^error: .*settings/m);
    writeFileSync(file, settings('red'));
    await said(/^Applied .*settings\.yaml: configmap\/settings$/m);
    expect(await color()).toBe('red');
    writeFileSync(join(folder, 'more.yaml'), 'apiVersion: v1\nkind: Namespace\nmetadata: {name: more}\n');
    await said(/^Applied .*more\.yaml: namespace\/more$/m);
  } finally {
    const ended = new Promise((resolve) => void server.once('exit', resolve));
    server.kill();
    await ended;
  }
});

/** Waits for what the process says, on either output. */
function linesOf(process: ChildProcessWithoutNullStreams): (pattern: RegExp) => Promise<void> {
  let text = '';
  const listeners = new Set<() => void>();
  for (const stream of [process.stdout, process.stderr]) {
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      for (const listener of listeners) listener();
    });
  }
  return (pattern) =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!pattern.test(text)) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
    });
}

test('what is wrong is said in one line', async () => {
  const [, , folder] = folders;
  const dataDir = join(folder, '.binnacle');
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await binnacle(args, folder);
    expect(code).toBe(1);
    return stderr;
  };
  expect(await refused('down')).toBe(`error: no server runs in ${dataDir}\n`);
  expect(await refused('kubeconfig')).toBe(`error: no server runs in ${dataDir}: start one with binnacle up\n`);
  expect(await refused('kubeconfig', '--group=devs')).toBe('error: --group needs --user: the administrator has its group\n');
  expect(await refused('up', '--name=No Name')).toBe('error: --name takes lower-case letters, digits and "-", at most 63, not "No Name"\n');
  expect(await refused('up', '--watch')).toBe('error: --watch needs --apply or --crds: what is to be watched\n');
  expect(await refused('up', '--crds')).toBe('error: flag needs an argument: --crds\n');
  expect(await refused('status', 'one')).toBe('error: "binnacle status" takes flags only, got "one"\n');
  expect(await refused('up', '--secure-port=0', '--apply=nothing')).toBe(`error: there is no file or folder ${join(folder, 'nothing')}\n`);
  expect(await refused('up', '--detach', '--secure-port=0', '--apply=nothing')).toBe(
    `error: the server has ended; ${join(dataDir, 'log')} says: there is no file or folder ${join(folder, 'nothing')}\n`,
  );
});
