import { DEFAULT_SETTINGS } from '../../apis/features.ts';
import { FakeClient } from '../../client/fake-client.ts';
import { endpointAddresses } from '../../client/service-address.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { Authorizer } from '../../registry/authorizer.ts';
import { MetricRegistry } from '../../metrics/registry.ts';
import { NOTHING_EMPTY } from '../../schema/empty-paths.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { AdmissionMetrics } from '../metrics.ts';
import type { AdmissionPlugin, PluginEnvironment } from '../plugin.ts';

/** For tests: a write as admission sees it, and what was told of it. */
export interface TestedWrite extends AdmissionAttributes {
  warnings: string[];
  auditAnnotations: Record<string, string>;
}

/** `target` as plug-ins name it: `pods/binding`, `ingresses.networking.k8s.io`. */
export function writeOf(target: string, object: object | undefined, more: Partial<AdmissionAttributes> = {}): TestedWrite {
  const [, resource = '', group = '', subresource = ''] = /^([^./]+)\.?([^/]*)\/?(.*)$/.exec(target)!;
  const warnings: string[] = [];
  const auditAnnotations: Record<string, string> = {};
  const user = { name: 'tester', groups: [] };
  const context = {
    user,
    userAgent: '',
    warn: (text: string) => void warnings.push(text),
    annotateAudit: (key: string, value: string) => void (auditAnnotations[key] = value),
    signal: undefined,
  };
  const written = object && ({ metadata: { name: 'x', namespace: 'n' }, ...structuredClone(object) } as ApiObject);
  return {
    operation: 'CREATE',
    group,
    version: 'v1',
    resource,
    subresource,
    kind: { group, version: 'v1', kind: '' },
    namespace: 'n',
    name: written?.metadata.name ?? '',
    object: written,
    sentEmpty: NOTHING_EMPTY,
    oldObject: undefined,
    options: {},
    dryRun: false,
    user,
    context,
    warnings,
    auditAnnotations,
    ...more,
  };
}

/** Both steps, as a write passes them; answers with the object. */
export async function admit<T>(plugin: AdmissionPlugin, write: AdmissionAttributes): Promise<T> {
  await plugin.mutate?.(write);
  await plugin.validate?.(write);
  return write.object as T;
}

export interface TestEnvironment extends PluginEnvironment {
  client: FakeClient;
  /** Where `metrics` counts. */
  registry: MetricRegistry;
}

/** With all gates on; nobody may do anything but those whom `isAllowed` lets. */
export function testEnvironment(isAllowed: Parameters<typeof authorizerOf>[0] = () => false): TestEnvironment {
  const registry = new MetricRegistry();
  const client = new FakeClient();
  return {
    client,
    authorizer: authorizerOf(isAllowed),
    isEnabled: () => true,
    kindSettings: DEFAULT_SETTINGS,
    isServed: () => true,
    registry,
    metrics: new AdmissionMetrics(registry),
    now: () => new Date(),
    options: { notReadyTolerationSeconds: 300, unreachableTolerationSeconds: 301, webhookRoutes: { addressOf: endpointAddresses(client) } },
  };
}

/** The same, with objects of one cluster-scoped resource. */
export async function environmentWith(group: string, plural: string, ...objects: object[]): Promise<TestEnvironment> {
  const environment = testEnvironment();
  for (const object of objects) await environment.client.resource(group, plural).create('', { kind: '', apiVersion: '', ...object } as never);
  return environment;
}

function authorizerOf(isAllowed: (verb: string, resource: string, name: string) => boolean): Authorizer {
  return {
    authorize: ({ verb, resource, name }) => ({ decision: isAllowed(verb, resource, name) ? 'allow' : 'noOpinion', reason: '' }),
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], isIncomplete: false }),
  };
}
