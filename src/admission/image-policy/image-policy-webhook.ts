import type { Container, EphemeralContainer, Pod } from '../../apis/facts/types/core-v1.ts';
import type { WebhookRoutes } from '../../client/webhook-route.ts';
import { WebhookClient, WebhookError, withRetries } from '../../client/webhook-client.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { ExpiringCache } from '../../util/expiring-cache.ts';
import { quote } from '../../util/go-quote.ts';
import { isJsonObject, ownValue, parseLongJson, stringifyJson } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { annotateForOthers } from '../audit-annotation.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import type { ImagePolicyConfiguration } from './image-policy-configuration.ts';

const KIND = 'ImageReview';
const API_VERSION = 'imagepolicy.k8s.io/v1alpha1';
const AUDIT_PREFIX = 'imagepolicywebhook.image-policy.k8s.io/';
const FAILED_OPEN_ANNOTATION = 'alpha.image-policy.k8s.io/failed-open';
/** Annotations of pods that a reviewer of images may want to know. */
const SHOWN_ANNOTATIONS = '.image-policy.k8s.io/';
const MAX_REMEMBERED = 1024;
const TRIES = 5;

/** ImageReviewStatus. */
interface ImageReviewStatus {
  allowed: boolean;
  reason: string;
  auditAnnotations: ReadonlyMap<string, string>;
}

/** There is no status: the configuration says what comes of it. */
class ReviewFailure extends Error {}

/** Asks another server whether a pod's images may be run (plugin/pkg/admission/imagepolicy). */
export function imagePolicyWebhook(
  configuration: ImagePolicyConfiguration | undefined,
  { onWeakCertificate }: Pick<WebhookRoutes, 'onWeakCertificate'> = {},
): AdmissionPlugin {
  if (!configuration) throw new Error('no config specified');
  const { endpoint, allowTtlMs, denyTtlMs, retryDelayMs, isAllowedOnFailure } = configuration;
  const client = new WebhookClient(endpoint, { onWeakCertificate });
  const known = new ExpiringCache<ImageReviewStatus>(MAX_REMEMBERED);
  const sleep = (delayMs: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, delayMs));

  async function reviewStatus(spec: JsonObject, signal: AbortSignal | undefined): Promise<ImageReviewStatus> {
    const question = stringifyJson(spec);
    const remembered = known.get(question);
    if (remembered) return remembered;
    const review = stringifyJson({ kind: KIND, apiVersion: API_VERSION, metadata: {}, spec, status: { allowed: false } });
    const status = await readStatus(
      await orReviewFailure(withRetries({ initialDelayMs: retryDelayMs, tries: TRIES, sleep }, () => client.post(review, signal))),
    );
    known.set(question, status, status.allowed ? allowTtlMs : denyTtlMs);
    return status;
  }

  async function validate(attributes: AdmissionAttributes): Promise<void> {
    let status: ImageReviewStatus;
    try {
      status = await reviewStatus(reviewSpec(attributes), attributes.context.signal);
    } catch (error) {
      if (!(error instanceof ReviewFailure)) throw error;
      if (!isAllowedOnFailure) throw refusal(attributes, error.message);
      return admitWithoutReview(attributes);
    }
    for (const [key, value] of status.auditAnnotations) annotateForOthers(attributes, AUDIT_PREFIX + key, value);
    if (status.allowed) return;
    const { reason } = status;
    throw refusal(
      attributes,
      reason === '' ? 'one or more images rejected by webhook backend' : `image policy webhook backend denied one or more images: ${reason}`,
    );
  }
  return { name: 'ImagePolicyWebhook', operations: CREATE_OR_UPDATE, targets: ['pods', 'pods/ephemeralcontainers'], validate };
}

/** Upstream marks the pod itself too, here in the validating step. */
function admitWithoutReview({ object, context }: AdmissionAttributes): void {
  context.annotateAudit(`${AUDIT_PREFIX}failed-open`, 'true');
  const { metadata } = object as Pod;
  metadata.annotations = { ...metadata.annotations, [FAILED_OPEN_ANNOTATION]: 'true' };
}

/** ImageReviewSpec. */
function reviewSpec({ object, subresource, namespace }: AdmissionAttributes): JsonObject {
  const { metadata, spec } = object as Pod;
  const containers: readonly (Container | EphemeralContainer)[] =
    subresource === '' ? [...(spec.containers ?? []), ...(spec.initContainers ?? [])] : (spec.ephemeralContainers ?? []);
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.includes(SHOWN_ANNOTATIONS));
  return {
    ...(containers.length > 0 && { containers: containers.map(({ image = '' }) => (image === '' ? {} : { image })) }),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations.toSorted(([a], [b]) => (a < b ? -1 : 1))) }),
    ...(namespace !== '' && { namespace }),
  };
}

async function orReviewFailure(call: Promise<Buffer>): Promise<Buffer> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof WebhookError ? new ReviewFailure(error.message) : error;
  }
}

/** Kind and version may be left out, but not be others. */
async function readStatus(answer: Buffer): Promise<ImageReviewStatus> {
  const review = await readReview(answer);
  const kind = textOf(review, 'kind') || KIND;
  const apiVersion = textOf(review, 'apiVersion') || API_VERSION;
  if (kind !== KIND || apiVersion !== API_VERSION) throw new ReviewFailure(`no kind ${quote(kind)} is registered for version ${quote(apiVersion)}`);
  const status = objectOf(review, 'status');
  const allowed = ownValue(status, 'allowed') ?? false;
  if (typeof allowed !== 'boolean') throw unreadable('status.allowed');
  const annotations = Object.entries(objectOf(status, 'auditAnnotations'));
  if (!annotations.every((entry): entry is [string, string] => typeof entry[1] === 'string')) throw unreadable('status.auditAnnotations');
  return { allowed, reason: textOf(status, 'reason'), auditAnnotations: new Map(annotations) };
}

async function readReview(answer: Buffer): Promise<JsonObject> {
  let value: Json;
  try {
    value = await parseLongJson(answer);
  } catch (error) {
    throw new ReviewFailure(`couldn't get version/kind; json parse error: ${(error as Error).message}`);
  }
  if (!isJsonObject(value)) throw new ReviewFailure("couldn't get version/kind; json parse error: the answer is no object");
  return value;
}

function textOf(object: JsonObject, field: string): string {
  const value = ownValue(object, field) ?? '';
  if (typeof value !== 'string') throw unreadable(field);
  return value;
}

function objectOf(object: JsonObject, field: string): JsonObject {
  const value = ownValue(object, field) ?? {};
  if (!isJsonObject(value)) throw unreadable(field);
  return value;
}

const unreadable = (field: string): ReviewFailure => new ReviewFailure(`json: cannot unmarshal the answer's field ImageReview.${field}`);
