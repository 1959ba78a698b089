import type { TestServer, TestServerOptions } from './testing/server-interface.ts';
import { KeyRing } from './testing/key-ring.ts';
import { startTestServer } from './testing/test-server.ts';

export type { AddedFault, Faults, InjectedFault } from './faults/injector.ts';
export type { FaultMatch, FaultRule } from './faults/rule.ts';
export type { AdmissionAnswer, AdmissionHandler, AdmissionRequest } from './testing/admission-handler.ts';
export type { ApiError } from './testing/api-error.ts';
export type { BuiltInKinds } from './testing/built-in-kinds.ts';
export type { ConversionHandler } from './testing/conversion-handler.ts';
export type { ServiceAccountRequest, TestServiceAccount, TestUser, UserRequest } from './testing/credentials.ts';
export type { Draft, KubernetesObject, ListReference, ManifestSource, ObjectOf, ObjectReference } from './testing/objects.ts';
export type { RecordedRequest, RequestLog, RequestMatch } from './testing/recorded-request.ts';
export type { TestServer as StartedServer, TestServerOptions as StartOptions, Snapshot, TestClock, WaitOptions } from './testing/server-interface.ts';
export type { AdmissionWebhookOptions, ConversionWebhookOptions, TestWebhook } from './testing/webhook-options.ts';

/** Of all servers of this process. */
const keyRing = new KeyRing();

/**
 * Starts an API server in this process, on the loopback address, with RBAC and an administrator; it answers once this settles.
 *
 * ```ts
 * await using server = await startServer({ crds: './config/crd' });
 * const jane = server.user({ name: 'jane', groups: ['devs'] });
 * await server.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'blue' } });
 * ```
 */
export const startServer = (options: TestServerOptions = {}): Promise<TestServer> => startTestServer(options, keyRing);
