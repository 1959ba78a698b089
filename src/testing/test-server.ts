import { type EmbeddedServer, startEmbedded, startFork } from '../compose/embedded.ts';
import type { FactorySettings } from '../compose/start.ts';
import { withFaults } from '../faults/filter.ts';
import { type Faults, FaultInjector } from '../faults/injector.ts';
import type { AdmissionHandler } from './admission-handler.ts';
import type { ConversionHandler } from './conversion-handler.ts';
import type { ServiceAccountRequest, TestServiceAccount, TestUser, UserRequest } from './credentials.ts';
import type { ObjectClient } from './object-client.ts';
import type { Draft, KubernetesObject, ListReference, ManifestSource, ObjectOf, ObjectReference } from './objects.ts';
import type { RequestLog } from './recorded-request.ts';
import { KeyRing } from './key-ring.ts';
import { RecordedRequests } from './request-log.ts';
import type { Snapshot, TestServer, TestServerOptions, WaitOptions } from './server-interface.ts';
import { SimulatedClock } from './simulated-clock.ts';
import { TakenSnapshot } from './snapshot.ts';
import { createServiceAccount, createUser } from './users.ts';
import type { Condition } from './wait-for.ts';
import type { AdmissionWebhookOptions, ConversionWebhookOptions, TestWebhook } from './webhook-options.ts';

/** Starts a server, with the definitions and objects that the options name. What a test does not use is not loaded. */
export async function startTestServer({ crds, objects, ...options }: TestServerOptions, keyRing = new KeyRing()): Promise<TestServer> {
  const { settings, parts } = testParts(new SimulatedClock());
  const server = new RunningTestServer(await startEmbedded(options, undefined, { ...settings, sharedKeys: keyRing }), parts);
  try {
    if (crds !== undefined) await (await server.objectClient()).installDefinitions(crds);
    if (objects !== undefined) await server.apply(objects);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** What a test adds to a server. */
function testParts(clock: SimulatedClock): { settings: FactorySettings; parts: TestParts } {
  const requests = new RecordedRequests();
  const faults = new FaultInjector();
  const testFilters = { observe: requests.observe, faults: withFaults(faults) };
  return { settings: { testFilters, clock }, parts: { requests, faults, clock } };
}

async function forkOf(origin: EmbeddedServer, { aheadMs }: SimulatedClock): Promise<RunningTestServer> {
  const { settings, parts } = testParts(new SimulatedClock(aheadMs));
  return new RunningTestServer(await startFork(origin, { ...settings, image: origin.state!.image() }), parts);
}

interface TestParts {
  requests: RequestLog;
  faults: FaultInjector;
  clock: SimulatedClock;
}

class RunningTestServer implements TestServer {
  readonly requests: RequestLog;
  readonly faults: Faults;
  readonly clock: SimulatedClock;
  readonly #server: EmbeddedServer;
  #objects: Promise<ObjectClient> | undefined;

  constructor(server: EmbeddedServer, { requests, faults, clock }: TestParts) {
    this.#server = server;
    this.requests = requests;
    this.faults = faults;
    if (server.state) faults.followRevision(() => server.state!.revision);
    this.clock = clock;
  }

  get url(): string {
    return this.#server.url;
  }

  get kubeconfig(): string {
    return this.#server.kubeconfig;
  }

  get kubeconfigFile(): string {
    return this.#server.kubeconfigFile;
  }

  get caCertificate(): string {
    return this.#server.caCertificate;
  }

  consoleLink(): string {
    const { consoleLink } = this.#server;
    if (!consoleLink) throw new Error('the server has no console: start it with `console: true`');
    return consoleLink();
  }

  /** The administrator's, by HTTPS as any client. */
  objectClient(): Promise<ObjectClient> {
    this.#objects ??= openObjectClient(this.#server);
    return this.#objects;
  }

  user(request: UserRequest): TestUser {
    return createUser(this.#server, request);
  }

  async serviceAccount(request: ServiceAccountRequest): Promise<TestServiceAccount> {
    return createServiceAccount(this.#server, await this.objectClient(), request);
  }

  async apply(source: ManifestSource): Promise<KubernetesObject[]> {
    return (await this.objectClient()).apply(source);
  }

  async get<const A extends string, const K extends string>(reference: ObjectReference<A, K>): Promise<ObjectOf<A, K>> {
    return (await (await this.objectClient()).get(reference)) as ObjectOf<A, K>;
  }

  async list<const A extends string, const K extends string>(reference: ListReference<A, K>): Promise<ObjectOf<A, K>[]> {
    return (await (await this.objectClient()).list(reference)) as ObjectOf<A, K>[];
  }

  async create<const A extends string, const K extends string>(object: { apiVersion: A; kind: K } & Draft<ObjectOf<A, K>>): Promise<ObjectOf<A, K>> {
    return (await (await this.objectClient()).create(object as KubernetesObject)) as ObjectOf<A, K>;
  }

  async delete(reference: ObjectReference): Promise<void> {
    await (await this.objectClient()).delete(reference);
  }

  async waitFor<const A extends string, const K extends string>(
    reference: ObjectReference<A, K>,
    condition: Draft<ObjectOf<A, K>> | ((object: ObjectOf<A, K> | undefined) => unknown),
    options?: WaitOptions,
  ): Promise<ObjectOf<A, K>> {
    const { waitFor } = await import('./wait-for.ts');
    return (await waitFor(await this.objectClient(), reference, condition as Condition, options)) as ObjectOf<A, K>;
  }

  async webhook(handler: AdmissionHandler | ConversionHandler, options: AdmissionWebhookOptions | ConversionWebhookOptions): Promise<TestWebhook> {
    const { serveAdmission, serveConversion } = await import('./webhook.ts');
    const objects = await this.objectClient();
    return options.type === 'conversion'
      ? serveConversion(this.#server, objects, handler as ConversionHandler, options)
      : serveAdmission(this.#server, objects, handler as AdmissionHandler, options);
  }

  snapshot(): Snapshot {
    return new TakenSnapshot(this.#server.state!.image());
  }

  async reset(snapshot: Snapshot): Promise<void> {
    await this.#server.state!.reset(TakenSnapshot.imageOf(snapshot));
    (await this.#objects)?.paths.forget();
  }

  fork(): Promise<TestServer> {
    return forkOf(this.#server, this.clock);
  }

  async stop(): Promise<void> {
    const objects = await this.#objects?.catch(() => undefined);
    objects?.client.close();
    await this.#server.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

async function openObjectClient({ url, caCertificate, cluster }: EmbeddedServer): Promise<ObjectClient> {
  const [{ ApiClient }, { ObjectClient: Client }] = await Promise.all([import('./api-client.ts'), import('./object-client.ts')]);
  return new Client(new ApiClient({ url, caCertificate, ...cluster.admin }));
}
