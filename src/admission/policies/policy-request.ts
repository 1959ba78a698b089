import { jsonValue } from '../../cel/data/json-value.ts';
import type { Activation } from '../../cel/frame.ts';
import type { AuthorizerValue } from '../../cel/library/authorizer.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { SentObject } from '../../registry/write.ts';
import { notFound } from '../../api/errors.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { Answers } from '../../util/pending.ts';
import type { PluginEnvironment } from '../plugin.ts';
import { namespaceOfWrite } from '../webhooks/match.ts';
import { requestOf } from '../webhooks/review.ts';
import { type ShownObjects, sentObjects } from '../webhooks/shown-objects.ts';
import { type AdmissionView, type Views, viewsOf } from '../webhooks/view.ts';
import type { MatchFacts } from './matching.ts';
import { requestAuthorizer } from './request-authorizer.ts';

/** What policies want to know of one request. What takes work is found out when it is first asked for. */
export class PolicyRequest implements MatchFacts {
  readonly attributes: AdmissionAttributes;
  readonly environment: PluginEnvironment;
  readonly views: Views;
  readonly isClusterWide: boolean;
  readonly #mayChange: boolean;
  readonly #conversions = new Answers<JsonObject>();
  readonly #shown = new Map<AdmissionView, ShownObjects>();
  #authorizer: AuthorizerValue | undefined;
  #labelled: { labels: Record<string, string> | undefined } | Error | undefined;

  /** `mayChange`: the request's object may still be changed, and is shown so. */
  constructor(environment: PluginEnvironment, attributes: AdmissionAttributes, mayChange = false) {
    this.#mayChange = mayChange;
    this.environment = environment;
    this.attributes = attributes;
    this.views = viewsOf(environment, attributes);
    this.isClusterWide = attributes.namespace === '' && attributes.resource !== 'namespaces';
  }

  /** Of a namespace that is being written, the labels to come. */
  namespace(): { labels: Record<string, string> | undefined } | Error {
    return (this.#labelled ??= this.#findLabels());
  }

  #findLabels(): { labels: Record<string, string> | undefined } | Error {
    const { resource, subresource, operation, object } = this.attributes;
    if (resource === 'namespaces' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) return { labels: object?.metadata.labels };
    const name = namespaceOfWrite(this.attributes);
    const found = this.#find(name);
    return found ? { labels: found.metadata.labels } : missingNamespace(name);
  }

  /** The variables of an expression. The objects are as the view has them. */
  inputs(view: AdmissionView, params: ApiObject | undefined, { object, oldObject }: ShownObjects): Activation {
    const { attributes, environment, views } = this;
    const { group, resource, subresource, name, namespace, kind } = attributes;
    this.#authorizer ??= requestAuthorizer(environment.authorizer, attributes.user);
    const isInNamespace = namespace !== '' && !(kind.group === '' && kind.kind === 'Namespace');
    return {
      object: jsonValue(object ?? null),
      oldObject: jsonValue(oldObject ?? null),
      params: params === undefined ? null : jsonValue(params as unknown as Json),
      namespaceObject: isInNamespace ? jsonValue(shownNamespace(this.#existing(namespace))) : null,
      request: jsonValue(requestOf(attributes, views.requested, view)),
      authorizer: this.#authorizer,
      'authorizer.requestResource': this.#authorizer.resource({ apiGroup: group, resource, subresource, namespace: namespaceOfWrite(attributes), name }),
    };
  }

  /** The request's objects. Not to be changed. Throws Pending where they have to be converted, and ApiError where they cannot be. */
  shown(view: AdmissionView): ShownObjects {
    let shown = this.#shown.get(view);
    if (!shown) {
      const sent = sentObjects(this.attributes);
      const oldObject = this.#shownOne(view, sent.oldObject, 'old');
      this.#shown.set(view, (shown = { object: this.#shownOne(view, sent.object, 'new'), oldObject }));
    }
    return shown;
  }

  /** As it is where it is stored in that form. */
  #shownOne(view: AdmissionView, sent: SentObject | undefined, which: 'old' | 'new'): JsonObject | undefined {
    if (sent === undefined) return undefined;
    const { group, version, kind } = this.attributes.kind;
    const isStoredSo = view.kind.version === version && view.kind.kind === kind && view.kind.group === group;
    if (this.#mayChange && view.showToChange) return view.showToChange(sent);
    return isStoredSo ? (sent.object as unknown as JsonObject) : this.#conversions.get(`${which} ${view.group}/${view.version}`, () => view.show(sent));
  }

  #existing(name: string): ApiObject {
    const found = this.#find(name);
    if (!found) throw missingNamespace(name);
    return found;
  }

  #find(name: string): ApiObject | undefined {
    return this.environment.client.resource('', 'namespaces').informer.get('', name);
  }
}

const missingNamespace = (name: string): Error => notFound({ group: '', resource: 'namespaces' }, name);

/** Without what is about its owners (plugin/cel CreateNamespaceObject). */
function shownNamespace({ metadata, ...namespace }: ApiObject): JsonObject {
  const { ownerReferences: _owners, managedFields: _managers, ...shown } = metadata;
  return { ...namespace, metadata: shown } as unknown as JsonObject;
}
