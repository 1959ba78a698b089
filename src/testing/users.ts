import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { kubeconfigText } from '../compose/cluster.ts';
import type { EmbeddedServer } from '../compose/embedded.ts';
import { writePrivately } from '../compose/files.ts';
import { signCertificate } from '../serving/certificates/create.ts';
import { ApiError } from './api-error.ts';
import type { Credentials, ServiceAccountRequest, TestServiceAccount, TestUser, UserRequest } from './credentials.ts';
import type { ObjectClient } from './object-client.ts';
import type { KubernetesObject } from './objects.ts';

/** A user with a client certificate of the server's own authority. Nothing is stored: it is a user as soon as this returns. */
export function createUser(server: EmbeddedServer, { name, groups = [] }: UserRequest): TestUser {
  const pair = signCertificate(server.cluster.authority, { commonName: name, organizations: groups, usages: ['client'] });
  return { name, certificate: pair.certPem, key: pair.keyPem, ...kubeconfigs(server, name, pair) };
}

/** A service account, made where there is none yet, with a token of an hour. */
export async function createServiceAccount(
  server: EmbeddedServer,
  objects: ObjectClient,
  { name, namespace = 'default', clusterRole }: ServiceAccountRequest,
): Promise<TestServiceAccount> {
  await createIfMissing(objects, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } });
  if (clusterRole !== undefined) await createIfMissing(objects, bindingOf(name, namespace, clusterRole));
  const path = `${await objects.paths.object({ apiVersion: 'v1', kind: 'ServiceAccount', name, namespace })}/token`;
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
  const { status } = await objects.client.request<{ status: { token: string } }>('POST', path, { body: request });
  const user = `system:serviceaccount:${namespace}:${name}`;
  return { name: user, token: status.token, ...kubeconfigs(server, user, { token: status.token }) };
}

async function createIfMissing(objects: ObjectClient, object: KubernetesObject): Promise<void> {
  await objects.create(object).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
  });
}

const bindingOf = (name: string, namespace: string, clusterRole: string): KubernetesObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: `${namespace}:${name}:${clusterRole}` },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterRole },
  subjects: [{ kind: 'ServiceAccount', name, namespace }],
});

function kubeconfigs(server: EmbeddedServer, user: string, credentials: Parameters<typeof kubeconfigText>[0]['credentials']): Omit<Credentials, 'name'> {
  const folder = join(server.filesFolder, 'users');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kubeconfig = kubeconfigText({ url: server.url, caCertificate: server.caCertificate, user, credentials });
  const kubeconfigFile = join(folder, `${encodeURIComponent(user)}.kubeconfig`);
  writePrivately(kubeconfigFile, kubeconfig);
  return { kubeconfig, kubeconfigFile };
}
