#!/usr/bin/env node
// Records what a kube-apiserver publishes, as hashes: its texts stay out of the repository. (Those of single texts: npm run facts:record.)
//   node record.mjs --kubectl PATH --server https://127.0.0.1:6443 [--token TOKEN]
// The server is fresh; the resources of definitions.json are installed on the way.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runKubectl } from './explain.mjs';

const { values: flags } = parseArgs({
  options: { kubectl: { type: 'string', default: 'kubectl' }, server: { type: 'string' }, token: { type: 'string', default: 'admin-token' } },
});
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
const headers = { authorization: `Bearer ${flags.token}`, 'content-type': 'application/json' };
const get = async (path) => (await fetch(flags.server + path, { headers })).json();
const here = (name) => new URL(name, import.meta.url);
const definitions = JSON.parse(readFileSync(here('definitions.json'), 'utf8'));
const hashOf = (text) => createHash('sha256').update(text).digest('hex').slice(0, 10);

/** Fields and resources beside every kind as a whole. */
const DEEPER = [
  'pods.spec.containers',
  'pod.spec.containers.resources --recursive',
  'pods.metadata.creationTimestamp',
  'pods.spec.nodeSelector',
  'po.spec.tolerations.effect',
  'services.spec.ports.targetPort',
  'deployments --recursive',
  'deployments.spec.strategy.rollingUpdate',
  'configmaps --recursive',
  'ingresses.spec.rules.http',
  'ingresses.spec.rules.http.paths --recursive',
  'crd.spec.versions.schema.openAPIV3Schema.properties',
  'csr.metadata',
  'resourceclaims.spec.devices --recursive',
  'hpa.spec.behavior.scaleUp --api-version=autoscaling/v2',
  'validatingadmissionpolicies.spec.validations.expression',
  'persistentvolumeclaims.spec.resources.requests',
  'pods.spec.nothing',
  'nothing',
];
const CUSTOM = [
  'ships --api-version=sea.example.com/v1',
  'ships.spec',
  'ships.spec.template2',
  'ships --recursive',
  'ships --api-version=sea.example.com/v1beta1',
  'anchors',
  'sails.metadata',
  'odds.spec --recursive',
  'odds.spec.emb',
  'glasses',
];

const plain = await documents();
const ofKinds = (await resources()).map(({ plural, groupVersion }) => `${plural} --api-version=${groupVersion}`);
const explained = await explain([...ofKinds, ...DEEPER]);
await install();
const withCustom = await documents();
writeFileSync(here('documents.json'), `${JSON.stringify({ plain, withCustom: changed(plain, withCustom) }, null, 1)}\n`);
writeFileSync(here('explain.json'), `${JSON.stringify({ plain: explained, withCustom: await explain(CUSTOM) }, null, 1).replaceAll(/\{\s+("args[^}]*?)\s+\}/g, (_all, inner) => `{ ${inner.replaceAll(/\s+/g, ' ')} }`)}\n`);

/** Path → the hash of the document's bytes, which is its ETag. */
async function documents() {
  const { paths } = await get('/openapi/v3');
  const v3 = Object.entries(paths).map(([path, { serverRelativeURL }]) => [path, new URLSearchParams(serverRelativeURL.split('?')[1]).get('hash').slice(0, 10)]);
  const { headers: answered } = await fetch(`${flags.server}/openapi/v2`, { headers });
  return { v2: answered.get('etag').replaceAll('"', '').slice(0, 10), v3: Object.fromEntries(v3) };
}

function changed(before, after) {
  return { v2: after.v2, v3: Object.fromEntries(Object.entries(after.v3).filter(([path, hash]) => before.v3[path] !== hash)) };
}

async function resources() {
  const groups = (await get('/apis')).groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => [groupVersion, `/apis/${groupVersion}`]));
  const all = [];
  for (const [groupVersion, path] of [['v1', '/api/v1'], ...groups]) {
    for (const { name } of (await get(path)).resources) if (!name.includes('/')) all.push({ plural: name, groupVersion });
  }
  return all;
}

async function explain(commands) {
  const home = mkdtempSync(join(tmpdir(), 'explain-'));
  const results = [];
  for (const args of commands) {
    const { exit, printed } = await runKubectl(flags, home, args);
    results.push({ args, exit, hash: hashOf(printed) });
  }
  rmSync(home, { recursive: true });
  return results;
}

async function install() {
  for (const definition of definitions) {
    const body = JSON.stringify(definition);
    const created = await fetch(`${flags.server}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, { method: 'POST', headers, body });
    if (created.status !== 201) throw new Error(await created.text());
  }
  // Upstream publishes new definitions after a while.
  await setTimeout(10_000);
}
