import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Container, Pod } from '../../src/apis/facts/types/core-v1.ts';
import type { PodParts } from './pretended-pod.ts';

/** Where the programs of the tests look for their files. Two pods with the same place take it from each other: such tests run one after the other. */
const LINKED = /^\/(?:webhook|apiserver)\.local|^\/etcd-data/;
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Secrets and tokens of the container's volumes as files, behind links where the container has them. */
export async function mountVolumes({ metadata, spec }: Pod, container: Container, { api, ca, folder }: PodParts): Promise<void> {
  const namespace = `/api/v1/namespaces/${metadata.namespace}`;
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const volume = spec.volumes?.find((one) => one.name === name);
    const isLinked = LINKED.test(mountPath) || (mountPath === ACCOUNT && container.image?.includes('sample-apiserver'));
    if (volume === undefined || !isLinked) continue;
    const path = join(folder, metadata.uid!, name);
    mkdirSync(path, { recursive: true });
    const write = (file: string, content: string | Buffer): void => writeFileSync(join(path, file), content);
    if (volume.secret) {
      const { data = {} } = await api.get(`${namespace}/secrets/${volume.secret.secretName}`);
      for (const [key, value] of Object.entries(data)) write(key, Buffer.from(value, 'base64'));
    }
    if (volume.projected) {
      const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: metadata.name, uid: metadata.uid };
      const { status } = await api.create(`${namespace}/serviceaccounts/${spec.serviceAccountName}/token`, { spec: { boundObjectRef } });
      write('token', String(status?.['token']));
      write('namespace', metadata.namespace!);
      write('ca.crt', ca);
    }
    mkdirSync(dirname(mountPath), { recursive: true });
    rmSync(mountPath, { recursive: true, force: true });
    symlinkSync(path, mountPath);
  }
}
