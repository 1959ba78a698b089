import { randomUUID } from 'node:crypto';
import type { CustomResourceConversion, WebhookClientConfig } from '../../apis/facts/types/apiextensions-v1.ts';
import { UnreadableAnswer } from '../../client/webhook-review.ts';
import { WebhookClient, WebhookError } from '../../client/webhook-client.ts';
import { type WebhookRoutes, routeToWebhook } from '../../client/webhook-route.ts';
import { type ApiObject, parseApiVersion } from '../../api/api-object.ts';
import { unknownError } from '../../api/errors.ts';
import { stringifyJson } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import { MalformedReview, REVIEW_GROUP, type ConversionReviewVersion, convertedObjects } from './conversion-review.ts';
import type { Converter } from './converter.ts';
import { ConversionError, acceptedObject } from './converted-object.ts';
import type { ConversionFailure, ObserveConversion } from './metrics.ts';

/** Upstream's for all webhooks that have no limit of their own (apiserver/pkg/util/webhook/authentication.go setGlobalDefaults). */
const TIMEOUT_MS = 30_000;
/** A list's worth of objects comes back in one answer. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Asks a definition's webhook (…/apiserver/conversion/webhook_converter.go). */
export class WebhookConverter implements Converter {
  readonly #definitionName: string;
  readonly #reviewVersion: ConversionReviewVersion | undefined;
  readonly #config: WebhookClientConfig;
  readonly #routes: WebhookRoutes;
  /** Made for the first call. */
  #webhook: WebhookClient | undefined;
  readonly #observe: ObserveConversion;

  constructor(definitionName: string, { webhook }: CustomResourceConversion, routes: WebhookRoutes, observe: ObserveConversion) {
    this.#definitionName = definitionName;
    this.#config = webhook?.clientConfig ?? {};
    this.#routes = routes;
    this.#reviewVersion = (webhook?.conversionReviewVersions ?? []).find((version) => version === 'v1' || version === 'v1beta1');
    this.#observe = observe;
  }

  convert(objects: readonly ApiObject[], apiVersion: string): ApiObject[] | Promise<ApiObject[]> {
    const due = objects.filter((object) => object.apiVersion !== apiVersion);
    return due.length === 0 ? [...objects] : this.#convertDue(objects, due, apiVersion);
  }

  close(): void {
    this.#webhook?.close();
  }

  /** Those that are due, among the others as they were. */
  async #convertDue(objects: readonly ApiObject[], due: readonly ApiObject[], apiVersion: string): Promise<ApiObject[]> {
    const converted = (await this.#together(due, apiVersion)).values();
    return objects.map((object) => (object.apiVersion === apiVersion ? object : converted.next().value!));
  }

  /** Upstream asks for one at a time: who cannot answer for many is asked so too, and the errors are those of the first that fails. */
  async #together(due: readonly ApiObject[], apiVersion: string): Promise<ApiObject[]> {
    try {
      return await this.#observed(due, apiVersion);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      if (due.length === 1 || error.failure === 'call_failure') throw unknownError(error.message);
    }
    const converted: ApiObject[] = [];
    for (const object of due) converted.push(...(await this.#together([object], apiVersion)));
    return converted;
  }

  async #observed(due: readonly ApiObject[], apiVersion: string): Promise<ApiObject[]> {
    const beganMs = performance.now();
    const end = (failure?: ConversionFailure): void => {
      const [fromVersion, toVersion] = [versionOf(due[0]!.apiVersion), versionOf(apiVersion)];
      this.#observe({ definitionName: this.#definitionName, fromVersion, toVersion, durationMs: performance.now() - beganMs, failure });
    };
    try {
      const answers = await this.#ask(due, apiVersion);
      const converted = due.map((object, index) => acceptedObject(object, answers[index]!, apiVersion));
      end();
      return converted;
    } catch (error) {
      if (error instanceof ConversionError) end(error.failure);
      throw error;
    }
  }

  async #ask(objects: readonly ApiObject[], desiredAPIVersion: string): Promise<Json[]> {
    const version = this.#reviewVersion;
    if (version === undefined) throw new ConversionError('call_failure', 'no supported conversion review versions');
    const uid = randomUUID();
    const { apiVersion, kind } = objects[0]!;
    const subject = `conversion webhook for ${apiVersion}, Kind=${kind}`;
    const review = { kind: 'ConversionReview', apiVersion: `${REVIEW_GROUP}/${version}`, request: { uid, desiredAPIVersion, objects } };
    try {
      const converted = await convertedObjects(await this.#client().post(stringifyJson(review)), uid, version);
      if (converted.length === objects.length) return converted;
      throw new ConversionError('partial_response_failure', `${subject} returned ${converted.length} objects, expected ${objects.length}`);
    } catch (error) {
      if (error instanceof MalformedReview) throw new ConversionError('malformed_response_failure', `${subject} failed: ${error.message}`);
      if (error instanceof WebhookError || error instanceof UnreadableAnswer) throw new ConversionError('call_failure', `${subject} failed: ${error.message}`);
      throw error;
    }
  }

  #client(): WebhookClient {
    if (this.#webhook) return this.#webhook;
    const { endpoint, dial } = routeToWebhook(this.#config, this.#routes);
    const { onWeakCertificate } = this.#routes;
    this.#webhook = new WebhookClient(endpoint, { timeoutMs: TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES, dial, onWeakCertificate });
    return this.#webhook;
  }
}

const versionOf = (apiVersion: string): string => parseApiVersion(apiVersion)?.version ?? '';
