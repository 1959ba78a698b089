import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from './api-client.ts';
import { ApiError } from './api-error.ts';
import type { KubernetesObject } from './objects.ts';

const POLL_MS = 5;
const TIMEOUT_MS = 30_000;

interface Definition extends KubernetesObject {
  spec: { group: string; names: { plural: string }; versions: { name: string; served: boolean }[] };
}

interface Conditions {
  status?: { conditions?: { type: string; status: string; message?: string }[] };
}

/** Settles when the objects of a CustomResourceDefinition can be listed in every version that it serves. */
export async function untilServed(client: ApiClient, definition: KubernetesObject): Promise<void> {
  const { group, names, versions } = (definition as Definition).spec;
  const paths = versions.filter(({ served }) => served).map(({ name }) => `/apis/${group}/${name}/${names.plural}?limit=1`);
  const deadlineMs = performance.now() + TIMEOUT_MS;
  for (const path of paths) {
    while (!(await isServed(client, path))) {
      if (performance.now() > deadlineMs) throw await notServed(client, definition, path);
      await delay(POLL_MS);
    }
  }
}

async function isServed(client: ApiClient, path: string): Promise<boolean> {
  try {
    await client.request('GET', path);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return false;
    throw error;
  }
}

/** With what the server's own conditions say of names that are taken, or a schema that is none. */
async function notServed(client: ApiClient, definition: KubernetesObject, path: string): Promise<Error> {
  const name = definition.metadata!.name!;
  const { status } = await client.request<Conditions>('GET', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`);
  const conditions = (status?.conditions ?? []).map(({ type, status: state, message = '' }) => `${type}=${state} ${message}`.trim());
  return new Error(`${name} is not served at ${path} after ${TIMEOUT_MS} ms: ${conditions.join('; ') || 'it has no conditions'}`);
}
