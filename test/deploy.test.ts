import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { hasEtcd } from './support/etcd.ts';
import { hasCommand } from './support/find-etcd.ts';
import { Clients } from './support/kubectl.ts';
import { PROJECT_DIR } from './support/paths.ts';
import { Prometheus, hasPrometheus, promtool } from './support/prometheus.ts';
import { startServer, temporaryFolder } from './support/server.ts';
import { startEtcdWithTls, startFromManifest } from './support/manifest-server.ts';

// helm, etcd and Prometheus are several processes each: a machine that has little time needs more of it.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const DEPLOY = join(PROJECT_DIR, 'deploy');
const CHART = join(DEPLOY, 'helm/binnacle');
const read = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8');
const hasSystemdAnalyze = hasCommand('systemd-analyze');
const MANIFESTS = [
  { store: 'embedded', file: 'kubernetes/embedded.yaml', workload: 'statefulset/binnacle' },
  { store: 'etcd', file: 'kubernetes/etcd.yaml', workload: 'deployment/binnacle' },
] as const;

describe('the systemd unit', () => {
  test.skipIf(!hasSystemdAnalyze)('is one that systemd takes without a complaint, and locks down', async () => {
    const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', join(DEPLOY, 'systemd/binnacle.service')]);
    expect(stdout + stderr).toBe('');
  });
});

describe('the chart', () => {
  let clients: Clients;
  beforeAll(async () => {
    clients = new Clients(await startServer());
    await clients.kubectl('create namespace binnacle-system');
    // What the manifests ask for is all that the strictest profile allows.
    await clients.kubectl('label namespace binnacle-system pod-security.kubernetes.io/enforce=restricted pod-security.kubernetes.io/warn=restricted');
  });

  test('passes helm lint, and its plain manifests are what it makes', async () => {
    expect(await clients.helm(`lint ${CHART}`)).toContain('0 chart(s) failed');
    for (const { store, file } of MANIFESTS) {
      const made = await clients.helm(`template binnacle ${CHART} --namespace=binnacle-system --set=store=${store}`);
      await expect(manifestOf(store, made)).toMatchFileSnapshot(join(DEPLOY, file));
    }
    const refused = await clients.tryHelm(`template binnacle ${CHART} --set=store=floppy`);
    expect(refused.stderr).toContain('store is "embedded" or "etcd"');
  });

  test.each(MANIFESTS)('$file is applied and stored as written; so is a release', async ({ store, file, workload }) => {
    // Strict: a field that no kind has is refused.
    const applied = await clients.tryKubectl(`apply --server-side --validate=strict -f ${join(DEPLOY, file)}`);
    expect(applied).toMatchObject({ exit: 0, stderr: '' });
    expect(await clients.kubectl(`diff -f ${join(DEPLOY, file)}`)).toBe('');
    await clients.kubectl(`delete -f ${join(DEPLOY, file)}`);
    await clients.helm(`install binnacle ${CHART} --namespace=binnacle-system --set=store=${store}`);
    const values = join(temporaryFolder(), 'values.yaml');
    writeFileSync(values, 'extraFlags: [--v=2]\n');
    await clients.helm(`upgrade binnacle ${CHART} --namespace=binnacle-system --set=store=${store} --values=${values}`);
    expect(await clients.kubectl(`get ${workload} -n binnacle-system -o jsonpath={.spec.template.spec.containers[0].args[*]}`)).toMatch(/ --v=2$/);
    await clients.helm('rollback binnacle 1 --namespace=binnacle-system');
    await clients.helm('uninstall binnacle --namespace=binnacle-system');
    expect(await clients.kubectl('get all -n binnacle-system')).not.toContain('binnacle');
  });

  test('a server that is started with the arguments of the embedded manifest serves, and writes to its volume alone', async () => {
    const server = await startFromManifest(read('kubernetes/embedded.yaml'));
    await server.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'kept' } });
    expect((await server.send({ path: '/livez' })).status).toBe(200);
  });

  test.skipIf(!hasEtcd())('three servers that are started with those of the etcd manifest see what each other writes', async () => {
    const etcd = await startEtcdWithTls();
    const servers = await Promise.all([1, 2, 3].map(() => startFromManifest(read('kubernetes/etcd.yaml'), etcd)));
    await servers[0]!.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'shared' } });
    for (const server of servers) await server.get('/api/v1/namespaces/default/configmaps/shared');
  });
});

describe('the container recipe', () => {
  /** Lines of instructions, by stage. */
  const stages = read('container/Containerfile')
    .replace(/^#.*\n/gm, '')
    .split(/^(?=FROM )/m)
    .filter((stage) => stage.startsWith('FROM '));

  test('has a last stage with no shell, no npm and no root', () => {
    expect(stages).toHaveLength(3);
    expect(stages.at(-1)).toMatch(/^FROM gcr\.io\/distroless\/nodejs\d+-debian12:nonroot\n/);
    expect(stages.at(-1)).toMatch(/^USER 65532:65532$/m);
    expect(stages.at(-1)).not.toMatch(/^RUN /m);
  });

  test('what it lets into the build is enough to build the server; what the last stage gets is enough to run it', async () => {
    const folder = temporaryFolder();
    const allowed = read('container/Containerfile.dockerignore')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? line.slice(1) : []));
    for (const name of allowed) cpSync(join(PROJECT_DIR, name), join(folder, name), { recursive: true });
    symlinkSync(join(PROJECT_DIR, 'node_modules'), join(folder, 'node_modules'));
    await promisify(execFile)(process.execPath, ['scripts/build.mjs'], { cwd: folder });
    rmSync(join(folder, 'node_modules'));
    // What npm installs for `dependencies` alone.
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
    expect(Object.keys(dependencies)).toEqual(['lmdb']);
    for (const name of [
      'lmdb',
      '@lmdb',
      'msgpackr',
      'msgpackr-extract',
      '@msgpackr-extract',
      'weak-lru-cache',
      'ordered-binary',
      'node-addon-api',
      'node-gyp-build-optional-packages',
      'detect-libc',
    ])
      if (existsSync(join(PROJECT_DIR, 'node_modules', name)))
        cpSync(join(PROJECT_DIR, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'dist/binnacle.js'), '--version'], { cwd: folder });
    expect(stdout).toMatch(/Kubernetes v1\./);
  });
});

/** Helm's own comments name files that the reader of a plain manifest does not have. */
function manifestOf(store: string, made: string): string {
  const documents = parseAllDocuments(made).map((document) =>
    document
      .toString({ lineWidth: 0 })
      .replace(/^# Source: .*\n/m, '')
      .trim(),
  );
  const heading = `# Made from the chart (deploy/helm/binnacle, store=${store}) by test/deploy.test.ts; change the chart. Needs the namespace binnacle-system and the Secret\n# binnacle-pki in it: see docs/operating.md.\n`;
  return `${heading}${documents.map((document) => document.replace(/^---\n/, '')).join('\n---\n')}\n`;
}

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[];
}

/** A query of the dashboard as Grafana would send it. */
const asSent = (expression: string): string => expression.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*');

describe.skipIf(!hasPrometheus())('Prometheus', () => {
  test('takes the rules and the configuration, and alerts as the rules are meant to', async () => {
    const folder = join(DEPLOY, 'prometheus');
    expect(await promtool(folder, 'check', 'rules', 'rules.yaml')).toContain('SUCCESS');
    expect(await promtool(folder, 'check', 'config', '--syntax-only', 'prometheus.yaml')).toContain('SUCCESS');
    expect(await promtool(folder, 'test', 'rules', 'rules.test.yaml')).toContain('SUCCESS');
  });

  test('every alert is explained to whom it wakes', () => {
    const { groups } = parse(read('prometheus/rules.yaml')) as { groups: { rules: { alert?: string }[] }[] };
    const alerts = groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? []));
    const guide = readFileSync(join(PROJECT_DIR, 'docs/operating.md'), 'utf8');
    expect(alerts.length).toBeGreaterThan(10);
    for (const alert of alerts) expect(guide).toContain(`\`${alert}\``);
  });

  test('scrapes a server; after traffic no query of the dashboard is empty, and no alert fires', async () => {
    const folder = temporaryFolder();
    const policy = join(folder, 'policy.yaml');
    writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n');
    const server = await startServer({ storage: 'embedded', flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${folder}/audit.log`] });
    const prometheus = await Prometheus.start(server, 'admin-token', join(DEPLOY, 'prometheus/rules.yaml'));
    const { panels } = JSON.parse(read('grafana/dashboard.json')) as Dashboard;
    const open = new Map(panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [asSent(expr), title] as const)));
    expect(open.size).toBeGreaterThan(20);
    const api = server.client();
    const watch = await api.watch('/api/v1/namespaces/default/configmaps?watch=1');
    await vi.waitFor(
      async () => {
        const configMap = await api.create('/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'traffic-' } });
        await api.get('/api/v1/namespaces/default/configmaps');
        await api.delete(`/api/v1/namespaces/default/configmaps/${configMap.metadata.name}`);
        await Promise.all(
          [...open.keys()].map(async (expression) => {
            if ((await prometheus.query(expression)).some(({ value }) => value[1] !== 'NaN')) open.delete(expression);
          }),
        );
        expect([...open]).toEqual([]);
      },
      { timeout: 100_000, interval: 500 },
    );
    watch.response.destroy();
    expect(await prometheus.query('ALERTS{alertstate="firing"}')).toEqual([]);
    expect(await prometheus.query('up == 1')).toHaveLength(1);
  });
});
