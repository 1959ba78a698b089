import type { MutatingWebhook, MutatingWebhookConfiguration } from '../../apis/facts/types/admissionregistration-v1.ts';
import { parsedSelector } from '../../apis/validation/label-selector.ts';
import type { Client } from '../../client/client.ts';
import type { KindManifests } from '../manifests/manifests-of.ts';
import type { LabelSelector } from '../../api/label-selector.ts';
import { type CallEnvironment, WebhookCaller } from './caller.ts';

/** Validating ones have all but a reinvocation policy. As stored: defaults are filled in. */
export type WebhookSpec = MutatingWebhook;

/** One webhook of one configuration, ready to be asked. */
export interface Webhook {
  /** Of this webhook among all. */
  id: string;
  configuration: string;
  /** Of a manifest beside the server. */
  isStatic?: boolean;
  spec: WebhookSpec;
  namespaces: LabelSelector;
  objects: LabelSelector;
  caller: WebhookCaller;
}

const DEFAULT_TIMEOUT_SECONDS = 10;

/** The webhooks of one kind of configuration, in the order in which they are asked: by their configurations' names, then as these list them. */
export class WebhookSource {
  readonly synced: Promise<void>;
  isSynced = false;
  readonly #list: () => MutatingWebhookConfiguration[];
  readonly #calls: CallEnvironment;
  readonly #manifests: () => readonly MutatingWebhookConfiguration[];
  #callers = new Map<string, WebhookCaller>();
  #webhooks: readonly Webhook[] | undefined;

  constructor(client: Client, plural: string, calls: CallEnvironment, manifests?: KindManifests<MutatingWebhookConfiguration>) {
    const { informer } = client.resource<MutatingWebhookConfiguration>('admissionregistration.k8s.io', plural);
    this.#list = () => informer.list('');
    this.#calls = calls;
    this.#manifests = () => manifests?.list() ?? [];
    manifests?.onChange(() => (this.#webhooks = undefined));
    this.synced = informer.synced.then(() => {
      informer.onChange(() => (this.#webhooks = undefined));
      this.isSynced = true;
    });
    // Requests that wait for it are told; a server that could not start has none.
    this.synced.catch(() => undefined);
  }

  /** Those of manifests alone, which are asked about configurations of webhooks and policies too. */
  get staticWebhooks(): readonly Webhook[] {
    return this.webhooks.filter(({ isStatic }) => isStatic);
  }

  /** Those of manifests first. As of the last change that was acknowledged to anyone. */
  get webhooks(): readonly Webhook[] {
    return (this.#webhooks ??= this.#compile());
  }

  /** Callers, and with them their connections, outlive changes that do not concern them. */
  #compile(): Webhook[] {
    const former = this.#callers;
    this.#callers = new Map();
    const byName = this.#list().toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
    const compile = (configurations: readonly MutatingWebhookConfiguration[], isStatic: boolean): Webhook[] =>
      configurations.flatMap(({ metadata, webhooks = [] }) => webhooks.map((spec, index) => this.#webhook(metadata.name!, spec, index, former, isStatic)));
    const compiled = [...compile(this.#manifests(), true), ...compile(byName, false)];
    for (const [key, caller] of former) if (!this.#callers.has(key)) caller.retire();
    return compiled;
  }

  #webhook(configuration: string, spec: WebhookSpec, index: number, former: ReadonlyMap<string, WebhookCaller>, isStatic: boolean): Webhook {
    return {
      id: `${isStatic ? 'manifest/' : ''}${configuration}/${spec.name}/${index}`,
      isStatic,
      configuration,
      spec,
      namespaces: selectorOf(spec.namespaceSelector),
      objects: selectorOf(spec.objectSelector),
      caller: this.#caller(spec, former),
    };
  }

  #caller({ clientConfig, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }: WebhookSpec, former: ReadonlyMap<string, WebhookCaller>): WebhookCaller {
    const key = JSON.stringify([clientConfig, timeoutSeconds]);
    const caller = this.#callers.get(key) ?? former.get(key) ?? new WebhookCaller(clientConfig, timeoutSeconds * 1000, this.#calls);
    this.#callers.set(key, caller);
    return caller;
  }
}

const NOTHING: LabelSelector = { isEmpty: false, requirements: [], matches: () => false, toString: () => '' };

/** Everything is the default. Configurations are valid, so that a selector is none that breaks a rule. */
const selectorOf = (selector: WebhookSpec['objectSelector'] = {}): LabelSelector => parsedSelector(selector) ?? NOTHING;
