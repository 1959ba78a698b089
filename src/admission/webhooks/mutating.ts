import { noTypeIn } from '../../client/webhook-review.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { DecodeError } from '../../schema/decode.ts';
import { type JsonPatchOperation, applyJsonPatch, parseJsonPatch } from '../../schema/json-patch.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { internalError, isApiError } from '../../api/errors.ts';
import { LARGE_BYTES } from '../../registry/request-context.ts';
import { nextTurn, runSliced } from '../../util/time-slice.ts';
import { quote } from '../../util/go-quote.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { isJsonObject, stringifyJson } from '../../encoding/json.ts';
import type { NumberLiterals } from '../../encoding/json-parser.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { hasMarks, withNumbersAsWritten, withoutMarks } from '../../encoding/number-literals.ts';
import type { AdmissionMetrics } from '../metrics.ts';
import { type AdmissionPlugin, EVERY_OPERATION, type PluginEnvironment } from '../plugin.ts';
import { CallFailure, callWebhook, counted, outcomeOf } from './call.ts';
import { manifestsOf } from '../manifests/manifests-of.ts';
import { WebhookSource } from './configuration.ts';
import { callEnvironment } from './call-environment.ts';
import type { Invocation } from './match.ts';
import { patchFailure } from './patch-failure.ts';
import { Rounds } from './rounds.ts';
import { type Candidates, Relevance, candidatesFor } from './relevance.ts';
import type { AdmissionResponse } from './review.ts';
import { ChangedWrite, type ShownObjects } from './shown-objects.ts';
import type { AdmissionView } from './view.ts';

const PATCH = 'patch.webhook.admission.k8s.io/';
const MUTATION = 'mutation.webhook.admission.k8s.io/';
const FAILED_OPEN = `failed-open.${MUTATION}`;

/** Asks the webhooks that a write concerns one after the other; each sees what those before it changed (apiserver/pkg/admission/plugin/webhook/mutating). */
export function mutatingAdmissionWebhook(environment: PluginEnvironment): AdmissionPlugin {
  const source = new WebhookSource(
    environment.client,
    'mutatingwebhookconfigurations',
    callEnvironment(environment, environment.options.configurations?.mutatingWebhookUsers),
    manifestsOf(environment, 'MutatingAdmissionWebhook', 'MutatingWebhookConfiguration'),
  );
  const relevance = new Relevance(environment, 'admit');
  const rounds = new Rounds();

  function mutate(attributes: AdmissionAttributes): Promise<void> | void {
    if (!source.isSynced) return source.synced.then(() => mutate(attributes));
    const candidates = candidatesFor(environment, source, attributes);
    return candidates && dispatch(candidates, attributes);
  }

  async function dispatch({ requested, invocations }: Candidates, attributes: AdmissionAttributes): Promise<void> {
    const round = rounds.begin(attributes);
    const write = new ChangedWrite(attributes);
    for (const invocation of invocations) {
      const shown = (): Promise<ShownObjects> => write.in(invocation.view).catch(asInternalError);
      const isRelevant = await relevance.isRelevant(invocation, attributes, write.object, shown);
      if (!isRelevant || !round.asks(invocation.webhook)) continue;
      await shown();
      const hasChanged = await ask(environment.metrics, invocation, attributes, requested, write, round.number);
      round.wasAsked(invocation.webhook, hasChanged);
    }
    await write.finish();
    round.end();
  }

  return { name: 'MutatingAdmissionWebhook', operations: EVERY_OPERATION, mutate };
}

/** Two layers of upstream's dispatcher say so. */
function asInternalError(error: unknown): never {
  throw isApiError(error) ? internalError(internalError(error.message).message) : error;
}

/** Whether the webhook has changed the object. */
async function ask(
  metrics: AdmissionMetrics,
  invocation: Invocation,
  attributes: AdmissionAttributes,
  requested: AdmissionView,
  write: ChangedWrite,
  round: number,
): Promise<boolean> {
  const { context } = attributes;
  const { configuration, spec } = invocation.webhook;
  const place = `round_${round}_index_${invocation.index}`;
  let mutated = false;
  try {
    const call = async (): Promise<boolean> => {
      const shown = await write.in(invocation.view);
      const isFirst = attributes.reinvocation === undefined;
      const response = await callWebhook(invocation, attributes, requested, shown, true);
      // What comes of it may be larger than what was sent.
      if (response.patch.length > LARGE_BYTES) context.isLarge = true;
      const applied = await applyResponse(response, invocation, shown, write, isFirst);
      if (!applied) return false;
      const told = { configuration, webhook: spec.name, patch: applied.operations.map(shownOperation), patchType: 'JSONPatch' };
      context.annotateAudit(PATCH + place, withNumbersAsWritten(stringifyJson(told)), 'Request');
      return applied.hasChanged;
    };
    mutated = await counted(metrics, 'admit', invocation, attributes, call, () => write.object);
  } catch (error) {
    const refusal = outcomeOf(error, invocation, attributes, () => {
      metrics.webhookFailedOpen(spec.name, 'admit');
      context.annotateAudit(FAILED_OPEN + place, spec.name);
    });
    if (refusal !== undefined) throw refusal;
  } finally {
    context.annotateAudit(MUTATION + place, stringifyJson({ configuration, webhook: spec.name, mutated }));
  }
  return mutated;
}

/**
 * The time of an entry of managedFields that this write has made has fractions of a second until the object is first read back from JSON. Upstream compares
 * the object with what it read back, so that the first patch of a write counts as a change whatever it does.
 */
function losesFractions({ isUnstructured }: AdmissionView, { object, oldObject }: ShownObjects): boolean {
  if (isUnstructured) return false;
  const stored = new Set(ownersIn(oldObject));
  return ownersIn(object).some((owner) => !stored.has(owner));
}

/** The entries of managedFields without their times, as text. */
const ownersIn = (object: JsonObject | undefined): string[] =>
  ((object?.['metadata'] as ApiObject['metadata'] | undefined)?.managedFields ?? []).map(({ time: _time, ...owner }) => stringifyJson(owner as JsonObject));

/** With its fields in the order of their names, as Go writes maps. */
const shownOperation = ({ from, op, path, value }: JsonPatchOperation): JsonObject => ({
  ...(from !== undefined && { from }),
  ...(op !== undefined && { op }),
  ...(path !== undefined && { path }),
  ...(value !== undefined && { value }),
});

/** What was done to the object; undefined where the webhook asks for nothing. `isFirst`: nothing has been patched in this write before. */
async function applyResponse(
  { patch, patchType }: AdmissionResponse,
  { webhook, view }: Invocation,
  shown: ShownObjects,
  write: ChangedWrite,
  isFirst: boolean,
): Promise<{ operations: readonly JsonPatchOperation[]; hasChanged: boolean } | undefined> {
  const { name } = webhook.spec;
  const { object: before } = shown;
  const isLarge = patch.length > LARGE_BYTES;
  const operations = patch.length === 0 ? [] : await readPatch(patch, name, isLarge);
  if (operations.length === 0) return undefined;
  if (!before) throw internalError(`admission webhook ${quote(name)} attempted to modify the object, which is not supported for this operation`);
  if (patchType !== 'JSONPatch') throw new CallFailure(name, `unsupported patch type ${quote(patchType)}`, 400);
  const patched = await patchedObject(before, operations, isLarge);
  if (isLarge) await nextTurn();
  const next = readPatched(
    patched,
    operations.some((operation) => hasMarks(operation.value)),
    view,
  );
  if (isLarge) await nextTurn();
  const hasChanged = !equalJson(before, next) || (isFirst && losesFractions(view, shown));
  write.change(next);
  return { operations, hasChanged };
}

async function readPatch(patch: Buffer, webhookName: string, isLarge: boolean): Promise<JsonPatchOperation[]> {
  try {
    return await runSliced(parseJsonPatch(patch), isLarge);
  } catch (error) {
    throw new CallFailure(webhookName, `received undecodable patch in webhook response: ${inPatchTypes((error as Error).message)}`);
  }
}

/** Go's names of what is read: here, patches are read by the library itself. */
const inPatchTypes = (message: string): string =>
  message.replace('[]handlers.jsonPatchOp', 'jsonpatch.Patch').replace('handlers.jsonPatchOp', 'jsonpatch.Operation');

/** What kind of object it is, a patch may leave out, but not change. */
async function patchedObject(before: JsonObject, operations: readonly JsonPatchOperation[], isLarge: boolean): Promise<JsonObject> {
  let patched: Json;
  try {
    patched = await runSliced(applyJsonPatch(before, operations), isLarge);
  } catch (error) {
    if (!isApiError(error)) throw error;
    throw internalError(patchFailure(before, operations));
  }
  if (!isJsonObject(patched)) throw internalError(noTypeIn(patched));
  const [kind, apiVersion] = [patched['kind'] || before['kind'], patched['apiVersion'] || before['apiVersion']];
  if (kind !== before['kind'] || apiVersion !== before['apiVersion'])
    throw internalError(`no kind ${quote(String(kind))} is registered for version ${quote(String(apiVersion))} in scheme "pkg/api/legacyscheme/scheme.go:30"`);
  return patched;
}

function readPatched(patched: JsonObject, isMarked: boolean, view: AdmissionView): JsonObject {
  const literals: NumberLiterals = new Map();
  try {
    return isMarked ? view.edited(withoutMarks(patched, literals) as JsonObject, literals) : view.edited(patched);
  } catch (error) {
    throw error instanceof DecodeError ? internalError(error.message) : error;
  }
}
