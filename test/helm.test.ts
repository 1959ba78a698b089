import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { Clients } from './support/kubectl.ts';
import { startServer, temporaryFolder } from './support/server.ts';

/* helm as people use it, with a small chart of our own. Client-side apply: server-side apply is another feature. */

const CHART: Record<string, string> = {
  'Chart.yaml': 'apiVersion: v2\nname: sail\ndescription: A small chart.\nversion: 0.1.0\nappVersion: "1.0"\n',
  'values.yaml': 'replicas: 2\nimage: nginx:1.29\ngreeting: ahoy\n',
  'templates/deployment.yaml': `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
  labels: {app.kubernetes.io/managed-by: {{ .Release.Service }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      containers: [{name: web, image: {{ .Values.image }}, envFrom: [{configMapRef: {name: {{ .Release.Name }}-settings}}]}]
`,
  'templates/service.yaml': `
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}-web}
spec: {selector: {app: {{ .Release.Name }}}, ports: [{name: http, port: 80}]}
`,
  'templates/settings.yaml': `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-settings}
data: {greeting: {{ .Values.greeting | quote }}, revision: {{ .Release.Revision | quote }}}
`,
  'templates/NOTES.txt': '{{ .Release.Name }} says {{ .Values.greeting }} on Kubernetes {{ .Capabilities.KubeVersion.Version }}.\n',
};

let clients: Clients;
let chart: string;

beforeAll(async () => {
  clients = new Clients(await startServer());
  chart = join(temporaryFolder(), 'sail');
  mkdirSync(join(chart, 'templates'), { recursive: true });
  for (const [file, text] of Object.entries(CHART)) writeFileSync(join(chart, file), text);
});

interface Release {
  name: string;
  revision: string;
  status: string;
  chart: string;
}

const releases = async (): Promise<Partial<Release>[]> =>
  (JSON.parse(await clients.helm('list -n fleet -o json')) as Release[]).map(({ name, revision, status, chart: of }) => ({
    name,
    revision,
    status,
    chart: of,
  }));
const read = (what: string): Promise<string> => clients.kubectl(`get ${what} -n fleet`);

test('install, upgrade, roll back, uninstall', async () => {
  const installed = await clients.helm(`install cutter ${chart} -n fleet --create-namespace --server-side=false`);
  expect(installed).toContain('STATUS: deployed');
  expect(installed).toMatch(/cutter says ahoy on Kubernetes v1\.36\.\d+\./);
  expect(await releases()).toEqual([{ name: 'cutter', revision: '1', status: 'deployed', chart: 'sail-0.1.0' }]);
  expect(await read(`deployment cutter-web -o jsonpath={.spec.replicas}`)).toBe('2');
  expect(await read(`service cutter-web -o jsonpath={.spec.clusterIP}`)).toMatch(/^10\.0\.\d+\.\d+$/);

  const upgraded = await clients.helm(`upgrade cutter ${chart} -n fleet --server-side=false --set replicas=3,greeting=avast`);
  expect(upgraded).toContain('REVISION: 2');
  expect(await read(`deployment cutter-web -o jsonpath={.spec.replicas}`)).toBe('3');
  expect(await read(`configmap cutter-settings -o jsonpath={.data}`)).toBe('{"greeting":"avast","revision":"2"}');
  expect(await clients.helm('get values cutter -n fleet -o json')).toBe('{"greeting":"avast","replicas":3}\n');

  await clients.helm('rollback cutter 1 -n fleet --server-side=false');
  expect(await read(`configmap cutter-settings -o jsonpath={.data.greeting}`)).toBe('ahoy');
  expect((JSON.parse(await clients.helm('history cutter -n fleet -o json')) as unknown[]).length).toBe(3);

  expect(await clients.helm('uninstall cutter -n fleet --wait=hookOnly')).toContain('release "cutter" uninstalled');
  expect(await releases()).toEqual([]);
  expect((await clients.tryKubectl('get deployment,service,configmap cutter-web -n fleet')).stdout).toBe('');
});

test('a chart that the server refuses installs nothing that stays unnoticed', async () => {
  const failed = await clients.tryHelm(`install bad ${chart} -n fleet --create-namespace --server-side=false --set image=nginx,replicas=-1`);
  expect(failed.exit).toBe(1);
  expect(failed.stderr).toContain('spec.replicas: Invalid value: -1: must be greater than or equal to 0');
});
