import { replaceContent } from '../replace-content.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { DecodeError } from '../../schema/decode.ts';
import { type JsonPatchOperation, applyJsonPatch, parseJsonPatch } from '../../schema/json-patch.ts';
import type { ApiObject } from '../../util/api-object.ts';
import { internalError, isApiError } from '../../util/errors.ts';
import { quote } from '../../util/field-errors.ts';
import { equalJson } from '../../util/json-equal.ts';
import { isJsonObject, stringifyJson } from '../../util/json.ts';
import type { Json, JsonObject } from '../../util/json-types.ts';
import type { AdmissionPlugin, PluginEnvironment } from '../plugin.ts';
import { CallFailure, callWebhook, outcomeOf } from './call.ts';
import { WebhookSource } from './configuration.ts';
import { EVERY_OPERATION, serviceAddresses } from './environment.ts';
import type { Invocation } from './match.ts';
import { Rounds } from './rounds.ts';
import { type Candidates, Relevance, candidatesFor } from './relevance.ts';
import type { Verdict } from './review.ts';
import type { View } from './view.ts';

const MUTATION = 'mutation.webhook.admission.k8s.io/';
const FAILED_OPEN = `failed-open.${MUTATION}`;

/** Asks the webhooks that a write concerns one after the other; each sees what those before it changed (apiserver/pkg/admission/plugin/webhook/mutating). */
export function mutatingAdmissionWebhook(environment: PluginEnvironment): AdmissionPlugin {
  const source = new WebhookSource(environment.client, 'mutatingwebhookconfigurations', serviceAddresses(environment));
  const relevance = new Relevance(environment);
  const rounds = new Rounds();

  function mutate(attributes: AdmissionAttributes): Promise<void> | void {
    if (!source.isSynced) return source.synced.then(() => mutate(attributes));
    const candidates = candidatesFor(source.webhooks, attributes);
    return candidates && dispatch(candidates, attributes);
  }

  async function dispatch({ requested, invocations }: Candidates, attributes: AdmissionAttributes): Promise<void> {
    const round = rounds.begin(attributes);
    for (const invocation of invocations) {
      const isRelevant = await relevance.isRelevant(invocation, attributes);
      if (!isRelevant || !round.asks(invocation.webhook)) continue;
      const hasChanged = await ask(invocation, attributes, requested, round.number);
      round.wasAsked(invocation.webhook, hasChanged);
    }
    round.end();
  }

  return { name: 'MutatingAdmissionWebhook', operations: EVERY_OPERATION, mutate };
}

/** Whether the webhook has changed the object. */
async function ask(invocation: Invocation, attributes: AdmissionAttributes, requested: View, round: number): Promise<boolean> {
  const { configuration, spec } = invocation.webhook;
  const place = `round_${round}_index_${invocation.index}`;
  let mutated = false;
  try {
    mutated = applyVerdict(await callWebhook(invocation, attributes, requested, true), invocation, attributes);
  } catch (error) {
    const refusal = outcomeOf(error, invocation, attributes, () => attributes.context.annotateAudit(FAILED_OPEN + place, spec.name));
    if (refusal !== undefined) throw refusal;
  } finally {
    attributes.context.annotateAudit(MUTATION + place, stringifyJson({ configuration, webhook: spec.name, mutated }));
  }
  return mutated;
}

function applyVerdict({ patch, patchType }: Verdict, { webhook, view }: Invocation, attributes: AdmissionAttributes): boolean {
  const { name } = webhook.spec;
  const operations = patch.length === 0 ? [] : readPatch(patch, name);
  if (operations.length === 0) return false;
  const { object } = attributes;
  if (!object) throw internalError(`admission webhook ${quote(name)} attempted to modify the object, which is not supported for this operation`);
  if (patchType !== 'JSONPatch') throw new CallFailure(name, `unsupported patch type ${quote(patchType)}`);
  const before = view.show(object);
  const patched = patchedObject(before, operations, name);
  const next = readPatched(patched, object, view);
  const hasChanged = !equalJson(before, view.show(next) as Json);
  replaceContent(object, next);
  return hasChanged;
}

function readPatch(patch: Buffer, webhookName: string): JsonPatchOperation[] {
  try {
    return parseJsonPatch(patch);
  } catch (error) {
    throw new CallFailure(webhookName, `received undecodable patch in webhook response: ${(error as Error).message}`);
  }
}

/** What kind of object it is, a patch may not change. */
function patchedObject(before: JsonObject, operations: readonly JsonPatchOperation[], webhookName: string): JsonObject {
  let patched: Json;
  try {
    patched = applyJsonPatch(before, operations);
  } catch (error) {
    if (!isApiError(error)) throw error;
    throw internalError(`the patch of admission webhook ${quote(webhookName)} cannot be applied to the object`);
  }
  if (!isJsonObject(patched) || patched['kind'] !== before['kind'] || patched['apiVersion'] !== before['apiVersion'])
    throw internalError(`admission webhook ${quote(webhookName)} attempted to change the kind or the apiVersion of the object`);
  return patched;
}

function readPatched(patched: JsonObject, current: ApiObject, view: View): ApiObject {
  try {
    return view.read(patched, current);
  } catch (error) {
    throw error instanceof DecodeError ? internalError(error.message) : error;
  }
}
