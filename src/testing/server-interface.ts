import type { StartOptions, StartedServer } from '../compose/started-server.ts';
import type { AdmissionHandler } from './admission-handler.ts';
import type { ConversionHandler } from './conversion-handler.ts';
import type { ServiceAccountRequest, TestServiceAccount, TestUser, UserRequest } from './credentials.ts';
import type { Faults } from '../faults/injector.ts';
import type { Draft, KubernetesObject, ListReference, ManifestSource, ObjectOf, ObjectReference } from './objects.ts';
import type { RequestLog } from './recorded-request.ts';
import type { AdmissionWebhookOptions, ConversionWebhookOptions, TestWebhook } from './webhook-options.ts';

export interface TestServerOptions extends StartOptions {
  /** CustomResourceDefinitions: folders, files, globs or objects. All of them are served once `startServer` settles. */
  crds?: ManifestSource;
  /** Objects to begin with, in the same forms; they are applied after `crds`. */
  objects?: ManifestSource;
}

/** A server inside this program, and what a test wants of it. */
export interface TestServer extends StartedServer, AsyncDisposable {
  /** Every request that the server got, but for those of this object's own methods. */
  readonly requests: RequestLog;
  /** Faults that clients are to survive; this object's own methods do not meet them. */
  readonly faults: Faults;
  /** The server's time, which can be advanced: timestamps, times to live and the expiry of tokens follow it. */
  readonly clock: TestClock;
  /** With `console: true`: a new link to the page that shows the server live, which signs in once, as the administrator. Throws without. */
  consoleLink(): string;
  /** A user with a client certificate. What it may do is what its groups, and the roles that are bound to it, may do. */
  user(request: UserRequest): TestUser;
  /** A service account with a token. */
  serviceAccount(request: ServiceAccountRequest): Promise<TestServiceAccount>;
  /** Server-side apply of files, folders, globs or objects; definitions among them are served once this settles. */
  apply(source: ManifestSource): Promise<KubernetesObject[]>;
  get<const A extends string, const K extends string>(reference: ObjectReference<A, K>): Promise<ObjectOf<A, K>>;
  list<const A extends string, const K extends string>(reference: ListReference<A, K>): Promise<ObjectOf<A, K>[]>;
  create<const A extends string, const K extends string>(object: { apiVersion: A; kind: K } & Draft<ObjectOf<A, K>>): Promise<ObjectOf<A, K>>;
  delete(reference: ObjectReference): Promise<void>;
  /**
   * Watches one object until it has the given fields, or until the function says so or no longer throws. The error after the timeout says what is still
   * missing, and shows the object's last state.
   */
  waitFor<const A extends string, const K extends string>(
    reference: ObjectReference<A, K>,
    condition: (object: ObjectOf<A, K> | undefined) => unknown,
    options?: WaitOptions,
  ): Promise<ObjectOf<A, K> | undefined>;
  waitFor<const A extends string, const K extends string>(
    reference: ObjectReference<A, K>,
    condition: Draft<ObjectOf<A, K>>,
    options?: WaitOptions,
  ): Promise<ObjectOf<A, K>>;
  /** Serves the handler as an admission webhook, with certificates and configuration made; it is asked from the next request on. */
  webhook(handler: AdmissionHandler, options: AdmissionWebhookOptions): Promise<TestWebhook>;
  /** Serves the handler as the conversion webhook of a CustomResourceDefinition. */
  webhook(handler: ConversionHandler, options: ConversionWebhookOptions): Promise<TestWebhook>;
  /** What is stored now, to come back to. For servers that keep their objects in memory, as all do that are given no `dataDir`. */
  snapshot(): Snapshot;
  /**
   * Takes the server back to a snapshot, in one step. What has changed since then is as it was, with a new resourceVersion: versions never go back. Watches
   * of clients end as after a compaction (410), so that they list anew.
   */
  reset(snapshot: Snapshot): Promise<void>;
  /** A second server, on a port of its own, that begins with what this one has; they share memory until one of them writes. Users and tokens are good for both. */
  fork(): Promise<TestServer>;
}

export interface TestClock {
  readonly time: Date;
  /**
   * Lets so much time pass at once: milliseconds, or text such as `90s` and `1h30m`. What the server would have done meanwhile (events and other objects with a
   * time to live are removed, controllers come back to what they wait for) is done or under way when this settles.
   */
  advance(duration: string | number): Promise<void>;
}

/** What a server had stored at one moment. Taking one copies nothing, and it may be used any number of times, also after its server has stopped. */
export interface Snapshot {
  /** The server's, at that moment. */
  readonly resourceVersion: string;
}

export interface WaitOptions {
  /** Milliseconds. Default: 10,000. */
  timeout?: number;
}
