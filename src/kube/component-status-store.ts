import { request } from 'node:https';
import { componentStatuses } from '../apis/core/component-status.ts';
import type { ComponentStatus } from '../apis/facts/types/core-v1.ts';
import { LooseEntry } from '../endpoints/view.ts';
import type { AdmissionController } from '../registry/admission.ts';
import { ReadOnlyStore } from '../registry/read-only-store.ts';
import type { ListOptions, ListResult, ResourceStore } from '../registry/store.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import { methodNotSupported, notFound } from '../api/errors.ts';

/** What a component says of itself. */
export interface Probed {
  isHealthy: boolean;
  message: string;
  error?: string;
}

const RESOURCE = { group: '', resource: componentStatuses.plural };
const TIMEOUT_MS = 20_000;
const BODY_MAX_BYTES = 10 * 1024;

/** The controller manager and the scheduler, where they listen by default; `storage` stands where upstream has its first etcd. */
export const defaultProbes = (storage: () => Promise<Probed>): Record<string, () => Promise<Probed>> => ({
  'controller-manager': () => probeHealth(10_257),
  scheduler: () => probeHealth(10_259),
  'etcd-0': storage,
});

/** Read only; every read asks the components anew. */
export class ComponentStatusStore extends ReadOnlyStore implements ResourceStore<ComponentStatus> {
  readonly definition = componentStatuses;
  readonly admission: AdmissionController;
  readonly #probes: Record<string, () => Promise<Probed>>;

  constructor(admission: AdmissionController, probes: Record<string, () => Promise<Probed>>) {
    super(RESOURCE);
    this.admission = admission;
    this.#probes = probes;
  }

  async get(_namespace: string, name: string): Promise<CacheEntry> {
    if (!Object.hasOwn(this.#probes, name)) throw notFound({ group: '', resource: 'componentstatus' }, name);
    return new LooseEntry(statusOf(name, await this.#probes[name]!()));
  }

  async list(_namespace: string, { selection }: ListOptions): Promise<ListResult> {
    const all = await Promise.all(Object.entries(this.#probes).map(async ([name, ask]) => statusOf(name, await ask())));
    const chosen = all.filter(
      ({ metadata }) => selection.labels.matches({}) && selection.fields.matches((field) => (field === 'metadata.name' ? metadata.name! : '')),
    );
    return { entries: chosen.map((status) => new LooseEntry(status)), revision: 0, continue: '', remainingItemCount: undefined };
  }

  watch = (): Promise<never> => Promise.reject(methodNotSupported(RESOURCE, 'watch'));
}

const statusOf = (name: string, { isHealthy, message, error }: Probed): ComponentStatus => ({
  kind: 'ComponentStatus',
  apiVersion: 'v1',
  metadata: { name },
  conditions: [{ type: 'Healthy', status: isHealthy ? 'True' : 'False', ...(message && { message }), ...(error && { error }) }],
});

/** /healthz of a component on this machine. Its certificate is its own, and not checked; what goes wrong is the answer. */
export function probeHealth(port: number): Promise<Probed> {
  const url = `https://127.0.0.1:${port}/healthz`;
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => resolve({ isHealthy: false, message: `Get "${url}": ${messageOf(error, port)}` });
    const sent = request(url, { rejectUnauthorized: false, timeout: TIMEOUT_MS, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body = (body + chunk).slice(0, BODY_MAX_BYTES)));
      const code = response.statusCode ?? 0;
      const isHealthy = code >= 200 && code < 400;
      response.on('error', fail).on('end', () => resolve({ isHealthy, message: isHealthy ? body : `HTTP probe failed with statuscode: ${code}` }));
    });
    sent.on('error', fail).on('timeout', () => sent.destroy(new Error('context deadline exceeded (Client.Timeout exceeded while awaiting headers)')));
    sent.end();
  });
}

const messageOf = (error: NodeJS.ErrnoException, port: number): string =>
  error.code === 'ECONNREFUSED' ? `dial tcp 127.0.0.1:${port}: connect: connection refused` : error.message;
