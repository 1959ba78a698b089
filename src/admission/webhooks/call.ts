import { UnreadableAnswer } from '../../client/webhook-review.ts';
import { WebhookError } from '../../client/webhook-client.ts';
import { UnusableAddress } from '../../client/webhook-route.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { AskedPlugin } from '../../registry/step-observer.ts';
import { type ApiError, isApiError, badRequest, internalError, timeout, webhookDenied } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import { stringifyJson } from '../../encoding/json.ts';
import { TimeSlice } from '../../util/time-slice.ts';
import { annotateForOthers } from '../audit-annotation.ts';
import type { AdmissionMetrics, WebhookType } from '../metrics.ts';
import type { Invocation } from './match.ts';
import { type AdmissionResponse, createReview, readResponse, reviewVersion } from './review.ts';
import type { ShownObjects } from './shown-objects.ts';
import type { AdmissionView } from './view.ts';

/** The webhook could not be asked, or its answer could not be used: its failure policy says what comes of it. */
export class CallFailure extends Error {
  /** The one of its answer, where that is no success; else what upstream counts the failure as. */
  readonly code: number;

  constructor(webhookName: string, reason: string, code = 503) {
    super(`failed calling webhook ${quote(webhookName)}: ${reason}`);
    this.code = code;
  }
}

/** The webhook has said no. */
class WebhookRefusal extends Error {
  readonly denial: ApiError;

  constructor(denial: ApiError) {
    super(denial.message);
    this.denial = denial;
  }
}

const WITHOUT_SIDE_EFFECTS = new Set(['None', 'NoneOnDryRun']);

/** Asks one webhook. Its warnings and annotations are passed on. Throws what `outcomeOf` understands: WebhookRefusal, or CallFailure where there is no response. */
export async function callWebhook(
  { webhook, view }: Invocation,
  attributes: AdmissionAttributes,
  requested: AdmissionView,
  shown: ShownObjects,
  isMutating: boolean,
): Promise<AdmissionResponse> {
  const { name, sideEffects, admissionReviewVersions } = webhook.spec;
  if (attributes.dryRun && !WITHOUT_SIDE_EFFECTS.has(sideEffects ?? '')) throw badRequest(`admission webhook ${quote(name)} does not support dry run`);
  const review = attempt(
    name,
    'could not create admission objects',
    () => createReview(reviewVersion(admissionReviewVersions ?? []), attributes, requested, view, shown),
    400,
  );
  const answer = await post(webhook.caller.post(stringifyJson(review.body), attributes.context.signal, attributes.context.traceparent), name);
  const response = await readResponse(answer, review, isMutating).catch((error: unknown) => fail(name, 'received invalid webhook response', error));
  await passOn(response, name, attributes);
  if (!response.allowed) throw new WebhookRefusal(webhookDenied(name, response.status));
  return response;
}

/** An answer has room for ten thousands of them. */
async function passOn({ auditAnnotations, warnings }: AdmissionResponse, name: string, attributes: AdmissionAttributes): Promise<void> {
  const slice = new TimeSlice();
  for (const [key, value] of auditAnnotations) {
    annotateForOthers(attributes, `${name}/${key}`, value);
    if (slice.isSpent) await slice.next();
  }
  for (const warning of warnings) {
    attributes.context.warn(warning);
    if (slice.isSpent) await slice.next();
  }
}

const CALL = 'failed to call webhook';
/** Go's client says this of a limit of its own, which is not what ends these calls. */
const OWN_LIMIT = ' (Client.Timeout exceeded while awaiting headers)';

async function post(call: Promise<Buffer>, webhookName: string): Promise<Buffer> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof UnusableAddress) throw new CallFailure(webhookName, `could not get REST client: ${error.message}`);
    if (!(error instanceof WebhookError) && !isApiError(error)) throw error;
    throw new CallFailure(webhookName, `${CALL}: ${error.message.replace(OWN_LIMIT, '')}`, isApiError(error) ? error.code : error.status);
  }
}

function attempt<T>(webhookName: string, failure: string, step: () => T, code?: number): T {
  try {
    return step();
  } catch (error) {
    return fail(webhookName, failure, error, code);
  }
}

function fail(webhookName: string, failure: string, error: unknown, code?: number): never {
  throw new CallFailure(webhookName, `${error instanceof UnreadableAnswer ? CALL : failure}: ${(error as Error).message}`, code);
}

/** Counts a call by what it comes to; `call` may throw what `outcomeOf` understands. `read`: the object that it may change, for an observer. */
export async function counted<T>(
  metrics: AdmissionMetrics,
  type: WebhookType,
  { webhook }: Invocation,
  attributes: AdmissionAttributes,
  call: () => Promise<T>,
  read?: () => object | undefined,
): Promise<T> {
  const { name, failurePolicy } = webhook.spec;
  const { operation, context } = attributes;
  const beganMs = performance.now();
  const part = type === 'validating' ? 'validating-webhook' : 'mutating-webhook';
  context.waitsFor = part;
  const tell = context.observer?.asks(stepOf(type, webhook), read);
  const end = (code: number, isRejected: boolean): void => {
    const durationMs = performance.now() - beganMs;
    metrics.webhookCalled(name, type, operation, durationMs, code, isRejected);
    context.waitsFor = undefined;
    context.noteLatency?.(part, durationMs);
  };
  try {
    const result = await call();
    end(200, false);
    tell?.();
    return result;
  } catch (error) {
    if (error instanceof CallFailure) {
      const isRejected = failurePolicy !== 'Ignore';
      if (isRejected && !context.signal?.aborted) metrics.webhookRejected(name, type, operation, 'calling_webhook_error', error.code);
      end(error.code, isRejected);
    } else {
      const code = error instanceof WebhookRefusal ? error.denial.code : 0;
      metrics.webhookRejected(name, type, operation, error instanceof WebhookRefusal ? 'no_error' : 'apiserver_internal_error', code);
      end(code, true);
    }
    tell?.(error instanceof WebhookRefusal ? error.denial : error);
    throw error;
  }
}

const stepOf = (type: WebhookType, { configuration, spec }: Invocation['webhook']): AskedPlugin => ({
  plugin: type === 'validating' ? 'ValidatingAdmissionWebhook' : 'MutatingAdmissionWebhook',
  step: type === 'validating' ? 'validate' : 'mutate',
  hook: { type: 'webhook', name: spec.name, from: configuration },
});

/**
 * What a call that threw comes to: undefined where it is let pass. `onOpen` is told then. A request whose time is over is not carried on.
 */
export function outcomeOf(error: unknown, { webhook }: Invocation, { context }: AdmissionAttributes, onOpen: () => void): unknown {
  if (error instanceof WebhookRefusal) return error.denial;
  if (!(error instanceof CallFailure)) return error;
  if (webhook.spec.failurePolicy !== 'Ignore') return internalError(error.message);
  if (context.signal?.aborted) return requestTimeout();
  context.logWarning?.('Failed calling webhook, failing open', { webhook: webhook.spec.name, error: error.message });
  onOpen();
  return undefined;
}

export const requestTimeout = (): Error => timeout('request did not complete within requested timeout');
