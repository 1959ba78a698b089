import type { Client } from '../../client/client.ts';
import type { ApiObject } from '../../util/api-object.ts';
import { type LabelOperator, type LabelRequirement, type LabelSelector, labelSelectorOf } from '../../util/label-selector.ts';
import { WebhookCaller, type ClientConfig, type ServiceAddress } from './caller.ts';

/** admissionregistration/v1, as stored: defaults are filled in. */
export interface WebhookSpec {
  name: string;
  clientConfig: ClientConfig;
  rules?: readonly WebhookRule[];
  failurePolicy?: 'Ignore' | 'Fail';
  matchPolicy?: 'Exact' | 'Equivalent';
  namespaceSelector?: SelectorSpec;
  objectSelector?: SelectorSpec;
  sideEffects?: string;
  timeoutSeconds?: number;
  admissionReviewVersions?: readonly string[];
  matchConditions?: readonly ConditionSpec[];
  reinvocationPolicy?: 'Never' | 'IfNeeded';
}

export interface WebhookRule {
  operations?: readonly string[];
  apiGroups?: readonly string[];
  apiVersions?: readonly string[];
  resources?: readonly string[];
  scope?: string;
}

export interface ConditionSpec {
  name: string;
  expression: string;
}

interface SelectorSpec {
  matchLabels?: Record<string, string>;
  matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[];
}

type WebhookConfiguration = ApiObject & { webhooks?: readonly WebhookSpec[] };

/** One webhook of one configuration, ready to be asked. */
export interface Webhook {
  /** Of this webhook among all. */
  id: string;
  configuration: string;
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
  readonly #list: () => WebhookConfiguration[];
  readonly #addressOf: ServiceAddress;
  #callers = new Map<string, WebhookCaller>();
  #webhooks: readonly Webhook[] | undefined;

  constructor(client: Client, plural: string, addressOf: ServiceAddress) {
    const { informer } = client.resource<WebhookConfiguration>('admissionregistration.k8s.io', plural);
    this.#list = () => informer.list('');
    this.#addressOf = addressOf;
    this.synced = informer.synced.then(() => {
      informer.onChange(() => (this.#webhooks = undefined));
      this.isSynced = true;
    });
  }

  /** As of the last change that was acknowledged to anyone. */
  get webhooks(): readonly Webhook[] {
    return (this.#webhooks ??= this.#compile());
  }

  /** Callers, and with them their connections, outlive changes that do not concern them. */
  #compile(): Webhook[] {
    const former = this.#callers;
    this.#callers = new Map();
    const byName = this.#list().toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
    const webhooks = byName.flatMap(({ metadata, webhooks = [] }) => webhooks.map((spec, index) => this.#webhook(metadata.name!, spec, index, former)));
    for (const [key, caller] of former) if (!this.#callers.has(key)) caller.retire();
    return webhooks;
  }

  #webhook(configuration: string, spec: WebhookSpec, index: number, former: ReadonlyMap<string, WebhookCaller>): Webhook {
    return {
      id: `${configuration}/${spec.name}/${index}`,
      configuration,
      spec,
      namespaces: selectorOf(spec.namespaceSelector),
      objects: selectorOf(spec.objectSelector),
      caller: this.#caller(spec, former),
    };
  }

  #caller({ clientConfig, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }: WebhookSpec, former: ReadonlyMap<string, WebhookCaller>): WebhookCaller {
    const key = JSON.stringify([clientConfig, timeoutSeconds]);
    const caller = this.#callers.get(key) ?? former.get(key) ?? new WebhookCaller(clientConfig, timeoutSeconds * 1000, this.#addressOf);
    this.#callers.set(key, caller);
    return caller;
  }
}

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/** Known to be valid. None selects nothing, an empty one everything; where it is absent the default, everything, was filled in. */
function selectorOf({ matchLabels = {}, matchExpressions = [] }: SelectorSpec = {}): LabelSelector {
  const equalities = Object.entries(matchLabels).map(([key, value]): LabelRequirement => ({ key, operator: '=', values: [value] }));
  const others = matchExpressions.map(({ key, operator, values = [] }): LabelRequirement => ({ key, operator: OPERATORS.get(operator)!, values: values.toSorted() }));
  return labelSelectorOf([...equalities, ...others]);
}
