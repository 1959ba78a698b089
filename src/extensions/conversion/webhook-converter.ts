import { randomUUID } from 'node:crypto';
import type { CustomResourceConversion, WebhookClientConfig } from '../../apis/facts/types/apiextensions-v1.ts';
import { WebhookClient, WebhookError } from '../../client/webhook-client.ts';
import { type WebhookRoutes, routeToWebhook } from '../../client/webhook-route.ts';
import { validateAnnotations, validateLabels } from '../../registry/metadata.ts';
import { clone } from '../../schema/clone.ts';
import { type ApiObject, parseApiVersion } from '../../util/api-object.ts';
import { unknownError } from '../../util/errors.ts';
import { FieldErrors, quote, summarize } from '../../util/field-errors.ts';
import { formatGo, goTypeOfValue } from '../../util/go-format.ts';
import { JsonError } from '../../util/json-parser.ts';
import { isJsonObject, parseJson, stringifyJson } from '../../util/json.ts';
import type { Json, JsonObject } from '../../util/json-types.ts';
import type { ConversionFailure, ObserveConversion } from './metrics.ts';

/** Converts objects from one version of a custom resource to another. */
export interface Converter {
  /** In the order given. Throws an ApiError where it cannot be done. */
  convert(objects: readonly ApiObject[], apiVersion: string): Promise<ApiObject[]>;
  close(): void;
}

const TIMEOUT_MS = 30_000;
/** A list's worth of objects comes back in one answer. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const REVIEW_GROUP = 'apiextensions.k8s.io';
const KNOWN_REVIEWS = new Set(['v1', 'v1beta1']);

/** A conversion that failed, in the words that the client is told. */
class ConversionError extends Error {
  readonly failure: ConversionFailure;
  constructor(failure: ConversionFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** Asks a definition's webhook, many objects at a time (…/apiserver/conversion/webhook_converter.go). */
export class WebhookConverter implements Converter {
  readonly #definitionName: string;
  readonly #reviewVersion: string;
  readonly #config: WebhookClientConfig;
  readonly #routes: WebhookRoutes;
  /** Made for the first call. */
  #webhook: WebhookClient | undefined;
  readonly #observe: ObserveConversion;

  constructor(definitionName: string, { webhook }: CustomResourceConversion, routes: WebhookRoutes, observe: ObserveConversion) {
    this.#definitionName = definitionName;
    this.#config = webhook?.clientConfig ?? {};
    this.#routes = routes;
    this.#reviewVersion = (webhook?.conversionReviewVersions ?? []).find((version) => KNOWN_REVIEWS.has(version)) ?? 'v1';
    this.#observe = observe;
  }

  async convert(objects: readonly ApiObject[], apiVersion: string): Promise<ApiObject[]> {
    const due = objects.filter((object) => object.apiVersion !== apiVersion);
    if (due.length === 0) return [...objects];
    const beganMs = performance.now();
    const end = (failure?: ConversionFailure): void => {
      const [fromVersion, toVersion] = [versionOf(due[0]!.apiVersion), versionOf(apiVersion)];
      this.#observe({ definitionName: this.#definitionName, fromVersion, toVersion, durationMs: performance.now() - beganMs, failure });
    };
    try {
      const converted = await this.#converted(objects, due, apiVersion);
      end();
      return converted;
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      end(error.failure);
      throw unknownError(error.message);
    }
  }

  close(): void {
    this.#webhook?.close();
  }

  /** Those that are due, among the others as they were. */
  async #converted(objects: readonly ApiObject[], due: readonly ApiObject[], apiVersion: string): Promise<ApiObject[]> {
    const subject = subjectOf(due[0]!);
    const converted = (await this.#ask(due, apiVersion, subject)).values();
    return objects.map((object, index) => (object.apiVersion === apiVersion ? object : settled(object, converted.next().value!, apiVersion, subject, index)));
  }

  async #ask(objects: readonly ApiObject[], desiredAPIVersion: string, subject: string): Promise<Json[]> {
    const uid = randomUUID();
    const review = { kind: 'ConversionReview', apiVersion: `${REVIEW_GROUP}/${this.#reviewVersion}`, request: { uid, desiredAPIVersion, objects } };
    const failed = (failure: ConversionFailure, why: string) => new ConversionError(failure, `conversion webhook for ${subject} failed: ${why}`);
    try {
      const answer = parseJson(await this.#call().post(stringifyJson(review)));
      const converted = convertedObjects(answer, uid, this.#reviewVersion);
      if (converted.length === objects.length) return converted;
      const why = `returned ${converted.length} objects, expected ${objects.length}`;
      throw new ConversionError('partial_response_failure', `conversion webhook for ${subject} ${why}`);
    } catch (error) {
      if (error instanceof MalformedReview) throw failed('malformed_response_failure', error.message);
      if (error instanceof WebhookError || error instanceof JsonError) throw failed('call_failure', error.message);
      throw error;
    }
  }

  #call(): WebhookClient {
    if (this.#webhook) return this.#webhook;
    const { endpoint, dial } = routeToWebhook(this.#config, this.#routes);
    this.#webhook = new WebhookClient(endpoint, { timeoutMs: TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES, dial });
    return this.#webhook;
  }
}

class MalformedReview extends Error {}

function convertedObjects(answer: Json, uid: string, version: string): Json[] {
  const review = isJsonObject(answer) ? answer : {};
  const { apiVersion = '', kind = '', response } = review;
  if (apiVersion !== `${REVIEW_GROUP}/${version}` || kind !== 'ConversionReview')
    throw new MalformedReview(
      `expected webhook response of ${REVIEW_GROUP}/${version}, Kind=ConversionReview, got ${showType(String(apiVersion), String(kind))}`,
    );
  if (!isJsonObject(response)) throw new MalformedReview('no response provided');
  if (version === 'v1' && response['uid'] !== uid)
    throw new MalformedReview(`expected response.uid=${quote(uid)}, got ${quote(String(response['uid'] ?? ''))}`);
  const result = isJsonObject(response['result']) ? response['result'] : {};
  if (result['status'] !== 'Success')
    throw new MalformedReview(String(result['message'] || `response.result.status was '${String(result['status'] ?? '')}', not 'Success'`));
  return Array.isArray(response['convertedObjects']) ? response['convertedObjects'] : [];
}

const showType = (apiVersion: string, kind: string): string => `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
const versionOf = (apiVersion: string): string => parseApiVersion(apiVersion)?.version ?? '';
const subjectOf = ({ apiVersion, kind }: ApiObject): string => showType(apiVersion, kind);

/** What came back, held to what a conversion may change: not the kind, nor of metadata anything but labels and annotations. */
function settled(original: ApiObject, answer: Json, apiVersion: string, subject: string, index: number): ApiObject {
  const refuse = (why: string): never => {
    const told = `conversion webhook for ${subject} returned invalid converted object at index ${index}: ${why}`;
    throw new ConversionError('invalid_converted_object_failure', told);
  };
  const converted = isJsonObject(answer) ? answer : refuse('not an object');
  if (converted['apiVersion'] !== apiVersion) refuse(`invalid groupVersion (expected ${apiVersion}, received ${String(converted['apiVersion'] ?? '')})`);
  if (converted['kind'] !== original.kind) refuse(`invalid kind (expected ${original.kind}, received ${String(converted['kind'] ?? '')})`);
  const metadata = isJsonObject(converted['metadata']) ? converted['metadata'] : refuse('missing metadata in converted object');
  for (const [field, shown] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [expected, got] = [original.metadata[field] ?? '', metadata[field] ?? ''];
    if (expected !== got) refuse(`must have the same ${shown}: ${expected} != ${formatGo(got)}`);
  }
  return { ...converted, metadata: restoredMetadata(original, metadata, refuse) } as unknown as ApiObject;
}

function restoredMetadata(original: ApiObject, answered: JsonObject, refuse: (why: string) => never): JsonObject {
  const metadata = clone(original.metadata) as unknown as JsonObject;
  for (const field of ['labels', 'annotations']) {
    const value = answered[field] ?? null;
    if (value === null) {
      delete metadata[field];
      continue;
    }
    if (!isJsonObject(value)) return refuse(`invalid metadata.${field} of type ${goTypeOfValue(value)} in converted object`);
    for (const [key, text] of Object.entries(value))
      if (typeof text !== 'string') refuse(`metadata.${field}[${key}] must be a string, but is ${goTypeOfValue(text)} in converted object`);
    const errors = new FieldErrors('metadata');
    if (field === 'labels') validateLabels(value as Record<string, string>, errors.at('labels'));
    else validateAnnotations(value as Record<string, string>, errors.at('annotation'));
    if (!errors.isEmpty) refuse(summarize(errors.list));
    metadata[field] = value;
  }
  return metadata;
}
