import { WebhookError } from '../../client/webhook-client.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { isApiError, badRequest, internalError, timeout, webhookDenied } from '../../util/errors.ts';
import { quote } from '../../util/field-errors.ts';
import { stringifyJson } from '../../util/json.ts';
import type { Invocation } from './match.ts';
import { type Verdict, UnreadableAnswer, createReview, readVerdict, reviewVersion } from './review.ts';
import type { View } from './view.ts';

/** The webhook could not be asked, or its answer could not be used: its failure policy says what comes of it. */
export class CallFailure extends Error {
  constructor(webhookName: string, reason: string) {
    super(`failed calling webhook ${quote(webhookName)}: ${reason}`);
  }
}

const WITHOUT_SIDE_EFFECTS = new Set(['None', 'NoneOnDryRun']);

/** Asks one webhook. Its warnings and annotations are passed on; a refusal is thrown as the ApiError that it is to be, and CallFailure where there is no verdict. */
export async function callWebhook({ webhook, view }: Invocation, attributes: AdmissionAttributes, requested: View, isMutating: boolean): Promise<Verdict> {
  const { name, sideEffects, admissionReviewVersions } = webhook.spec;
  if (attributes.dryRun && !WITHOUT_SIDE_EFFECTS.has(sideEffects ?? '')) throw badRequest(`admission webhook ${quote(name)} does not support dry run`);
  const review = attempt(name, 'could not create admission objects', () =>
    createReview(reviewVersion(admissionReviewVersions ?? []), attributes, requested, view),
  );
  const answer = await post(webhook.caller.post(stringifyJson(review.body), attributes.context.signal), name);
  const verdict = attempt(name, 'received invalid webhook response', () => readVerdict(answer, review, isMutating));
  const { context } = attributes;
  for (const [key, value] of Object.entries(verdict.auditAnnotations)) context.annotateAudit(`${name}/${key}`, value);
  for (const warning of verdict.warnings) context.warn(warning);
  if (!verdict.allowed) throw webhookDenied(name, verdict.status);
  return verdict;
}

const CALL = 'failed to call webhook';
/** Go's client says this of a limit of its own, which is not what ends these calls. */
const OWN_LIMIT = ' (Client.Timeout exceeded while awaiting headers)';

async function post(call: Promise<Buffer>, webhookName: string): Promise<Buffer> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof WebhookError) && !isApiError(error)) throw error;
    throw new CallFailure(webhookName, `${CALL}: ${error.message.replace(OWN_LIMIT, '')}`);
  }
}

function attempt<T>(webhookName: string, failure: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw new CallFailure(webhookName, `${error instanceof UnreadableAnswer ? CALL : failure}: ${(error as Error).message}`);
  }
}

/**
 * What a call that threw comes to: undefined where it is let pass. `onOpen` is told then. A request whose time is over is not carried on.
 */
export function outcomeOf(error: unknown, { webhook }: Invocation, { context }: AdmissionAttributes, onOpen: () => void): unknown {
  if (!(error instanceof CallFailure)) return error;
  if (webhook.spec.failurePolicy !== 'Ignore') return internalError(error.message);
  if (context.signal?.aborted) return requestTimeout();
  onOpen();
  return undefined;
}

export const requestTimeout = (): Error => timeout('request did not complete within requested timeout');
