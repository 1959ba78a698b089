import type { KindSettings } from '../registry/write.ts';
import type { Client } from '../client/client.ts';
import type { WebhookRoutes } from '../client/webhook-route.ts';
import type { AdmissionAttributes, AdmissionOperation } from '../registry/admission.ts';
import type { Authorizer } from '../registry/authorizer.ts';
import type { FieldError } from '../api/field-errors.ts';
import type { PluginConfigurations } from './configuration.ts';
import type { AdmissionMetrics } from './metrics.ts';

/** One admission plug-in. Refuses by throwing ApiError; `mutate` may change `attributes.object` in place. */
export interface AdmissionPlugin {
  /** Upstream's name, as --enable-admission-plugins takes it. */
  readonly name: string;
  readonly operations: ReadonlySet<AdmissionOperation>;
  /** All that it is asked about, as `pods`, `pods/binding` or `ingresses.networking.k8s.io`; everything where absent. */
  readonly targets?: readonly string[];
  mutate?(attributes: AdmissionAttributes): Promise<void> | void;
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
  rights?(attributes: AdmissionAttributes): Promise<readonly FieldError[]>;
}

/** What plug-ins are made from. */
export interface PluginEnvironment {
  client: Client;
  authorizer: Authorizer;
  /** Whether a feature gate is on. */
  isEnabled(gate: string): boolean;
  /** What the rules of built-in kinds are asked within. */
  kindSettings: KindSettings;
  /** Whether clients may ask for a resource in that version: --runtime-config switches versions off. */
  isServed(group: string, version: string, plural: string): boolean;
  metrics: AdmissionMetrics;
  now(): Date;
  options: PluginOptions;
}

export interface PluginOptions {
  /** --default-not-ready-toleration-seconds */
  notReadyTolerationSeconds: number;
  /** --default-unreachable-toleration-seconds */
  unreachableTolerationSeconds: number;
  /** How webhooks are reached. */
  webhookRoutes: WebhookRoutes;
  /** --admission-control-config-file; absent where it is not given. */
  configurations?: PluginConfigurations;
}

export const CREATE: ReadonlySet<AdmissionOperation> = new Set(['CREATE'] as const);
export const UPDATE: ReadonlySet<AdmissionOperation> = new Set(['UPDATE'] as const);
export const CREATE_OR_UPDATE: ReadonlySet<AdmissionOperation> = new Set(['CREATE', 'UPDATE'] as const);
export const CREATE_UPDATE_OR_DELETE: ReadonlySet<AdmissionOperation> = new Set(['CREATE', 'UPDATE', 'DELETE'] as const);
export const EVERY_OPERATION: ReadonlySet<AdmissionOperation> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const);
