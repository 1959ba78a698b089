import type { AskedPlugin } from '../../registry/step-observer.ts';
import type { SentObject } from '../../registry/write.ts';
import { replaceContent } from '../replace-content.ts';
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { AdmissionAttributes, AdmissionOperation } from '../../registry/admission.ts';
import { DecodeError, convert, decode } from '../../schema/decode.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import { type ApiObject, apiVersionOf } from '../../api/api-object.ts';
import { ApiError, internalError, isApiError } from '../../api/errors.ts';
import { stringifyJson } from '../../encoding/json.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import type { AdmissionPlugin, PluginEnvironment } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import type { AdmissionView } from '../webhooks/view.ts';
import { type AdmissionMetrics, policyErrorType } from '../metrics.ts';
import type { ConditionsResult } from './policy-expressions.ts';
import { Mutator } from './mutator.ts';
import type { LabelIndex } from './label-index.ts';
import { ConfigurationError, paramResource, paramsFor } from './params.ts';
import { PatchError } from './patches.ts';
import { Steps, settled } from '../../util/pending.ts';
import { PolicyRequest } from './policy-request.ts';
import { manifestsOf } from '../manifests/manifests-of.ts';
import { PolicySource, type Hook } from './policy-source.ts';

/** There is nothing to be changed in a DELETE. */
const OPERATIONS: ReadonlySet<AdmissionOperation> = new Set(['CREATE', 'UPDATE', 'CONNECT'] as const);

type MutatingHook = Hook<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, Mutator>;

/** A policy that is to change the request's object, with one of its parameters. */
interface Invocation {
  readonly id: string;
  readonly hook: MutatingHook;
  readonly binding: string;
  readonly view: AdmissionView;
  readonly param: ApiObject | undefined;
}

interface Failure {
  readonly message: string;
  readonly reason: string;
}

/** Nothing is done with it before all is known: evaluations may have to be repeated. */
interface Outcome {
  /** The object as policies have left it, in each version that one of them asked for: none sees what others did in another. */
  objects: Map<AdmissionView, JsonObject>;
  /** The version of the policy that came last: what it left counts. */
  last: AdmissionView | undefined;
  isPatched: boolean;
  failures: Failure[];
  /** Invocations that ran and are to run again where the object changes after them. */
  repeatable: string[];
  counts: ((metrics: AdmissionMetrics) => void)[];
}

/** What a first round leaves for a second one (mutating/reinvocationcontext.go). */
interface Memory {
  repeatable: ReadonlySet<string>;
  isPatched: boolean;
  output: string;
}

/** Changes in CEL to what requests write (apiserver/pkg/admission/plugin/policy/mutating). */
export function mutatingAdmissionPolicy(environment: PluginEnvironment): AdmissionPlugin {
  const source = new PolicySource<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, Mutator>(
    environment.client,
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
    (policy) => Mutator.of(policy),
    manifestsOf(environment, 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicy'),
    manifestsOf(environment, 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'),
  );
  const memories = new WeakMap<AdmissionAttributes, Memory>();

  const mutate = (attributes: AdmissionAttributes): Promise<void> | void => {
    if (!source.isSynced) return source.synced.then(() => mutate(attributes));
    const hooks = source.hooksFor(attributes);
    if (!hooks) return;
    const mayRun = runsInRound(attributes, memories.get(attributes));
    const request = new PolicyRequest(environment, attributes, true);
    const steps = new Steps();
    const outcome = settled(() => {
      steps.begin();
      return run(hooks, request, steps, mayRun);
    });
    const finish = (found: Outcome): Promise<void> | void => {
      for (const count of found.counts) count(environment.metrics);
      const applied = apply(found, attributes);
      return applied ? applied.then(() => remember(found)) : remember(found);
    };
    const remember = (found: Outcome): void => {
      if (found.repeatable.length > 0)
        memories.set(attributes, { repeatable: new Set(found.repeatable), isPatched: found.isPatched, output: stringifyJson(attributes.object ?? null) });
    };
    return outcome instanceof Promise ? outcome.then(finish) : finish(outcome);
  };
  return { name: 'MutatingAdmissionPolicy', operations: OPERATIONS, mutate };
}

/** In a second round those run that ask for it, where anything changed since they did. */
function runsInRound({ reinvocation, object }: AdmissionAttributes, memory: Memory | undefined): (id: string) => boolean {
  if (reinvocation !== 'running') return () => true;
  const hasChanged = memory !== undefined && (memory.isPatched || memory.output !== stringifyJson(object ?? null));
  return (id) => hasChanged && memory.repeatable.has(id);
}

/** Throws Pending where the authorizer does, and where others are to have their turn: `steps` are what was done until then. */
function run(hooks: LabelIndex<MutatingHook>, request: PolicyRequest, steps: Steps, mayRun: (id: string) => boolean): Outcome {
  const outcome: Outcome = { objects: new Map(), last: undefined, isPatched: false, failures: [], repeatable: [], counts: [] };
  const invocations = hooks
    .candidates(request)
    .filter(({ matcher }) => matcher.mayMatch(request))
    .flatMap((hook) => invocationsOf(hook, request, outcome, steps));
  for (const invocation of invocations) invoke(invocation, request, outcome, steps, mayRun);
  return outcome;
}

function invocationsOf(hook: MutatingHook, request: PolicyRequest, outcome: Outcome, steps: Steps): Invocation[] {
  const { client } = request.environment;
  const invocations: Invocation[] = [];
  guarded(hook, undefined, outcome, () => {
    const view = hook.matcher.match(request);
    if (!view) return;
    const resource = paramResource(client, hook.policy.spec.paramKind);
    for (const { binding, matcher } of hook.bindings) {
      const name = binding.metadata.name!;
      guarded(hook, name, outcome, () => {
        if (matcher && !matcher.match(request)) return;
        if (!guarded(hook, undefined, outcome, () => void request.shown(view))) return;
        // Others may change them while this request waits for its turn.
        for (const param of steps.do(() => paramsFor(client, resource, binding.spec.paramRef, request.attributes.namespace))) {
          const id = [hook.policy.metadata.name, name, param?.metadata.namespace ?? '', param?.metadata.name ?? ''].join('/');
          invocations.push({ id, hook, binding: name, view, param });
        }
      });
    }
  });
  return invocations;
}

function guarded(hook: MutatingHook, binding: string | undefined, outcome: Outcome, prepare: () => void): boolean {
  try {
    prepare();
    return true;
  } catch (error) {
    if (!(error instanceof ConfigurationError || isApiError(error))) throw error;
    fail(hook, binding, `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${error.message}`, '', outcome);
    return false;
  }
}

function fail({ policy }: MutatingHook, binding: string | undefined, message: string, reason: string, outcome: Outcome): void {
  if (policy.spec.failurePolicy === 'Ignore') return;
  const name = policy.metadata.name!;
  const who = binding === undefined ? `policy ${JSON.stringify(name)}` : `policy '${name}' with binding '${binding}'`;
  outcome.failures.push({ message: `${who} denied request: ${message}`, reason });
}

function invoke(invocation: Invocation, request: PolicyRequest, outcome: Outcome, steps: Steps, mayRun: (id: string) => boolean): void {
  const { hook, binding, view, param, id } = invocation;
  const mutator = hook.compiled();
  const guard = (mutate: () => boolean): boolean => {
    try {
      return mutate();
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      fail(hook, binding, error.message, 'Invalid', outcome);
      return false;
    }
  };
  const name = hook.policy.metadata.name!;
  const { operation } = request.attributes;
  const { object: original, oldObject } = request.shown(view);
  // Conditions look at what those before have made of the object.
  const shown = { object: outcome.objects.get(view) ?? original, oldObject };
  const failuresBefore = outcome.failures.length;
  const conditions = steps.do(() => mutator.conditions(request.inputs(view, param, shown)));
  if (conditions.holds !== true) outcome.counts.push((metrics) => countConditions(metrics, name, operation, conditions));
  if (!guard(() => mutator.applies(conditions)) || !mayRun(id)) return;
  for (const mutation of mutator.mutations) {
    if (!request.attributes.object) continue;
    outcome.last = view;
    const before = outcome.objects.get(view);
    const { mutated, durationMs } = steps.do(() => timed(() => mutatedBy(mutation, mutator, invocation, request, before)));
    guard(() => {
      const errorType = mutated instanceof PatchError ? policyErrorType(mutated.message) : 'no_error';
      outcome.counts.push((metrics) => metrics.mutationChecked(name, binding, errorType, durationMs));
      if (mutated instanceof PatchError) throw mutated;
      outcome.objects.set(view, mutated);
      return (outcome.isPatched = true);
    });
  }
  const { observer } = request.attributes.context;
  if (observer) {
    const who: AskedPlugin = { plugin: 'MutatingAdmissionPolicy', step: 'mutate', hook: { type: 'policy', name, from: binding } };
    const told = { message: outcome.failures[failuresBefore]?.message, before: shown.object, after: outcome.objects.get(view) };
    outcome.counts.push(() => observer.told(who, told));
  }
  if (hook.policy.spec.reinvocationPolicy === 'IfNeeded') outcome.repeatable.push(id);
}

/** Upstream's label of the type is that of validations. */
const countConditions = (metrics: AdmissionMetrics, name: string, operation: AdmissionOperation, { durationMs, errors }: ConditionsResult): void =>
  metrics.conditionsEvaluated({ name, kind: 'policy', type: 'validate' }, operation, durationMs, errors);

/** What a mutation came to, and how long that took. */
function timed(mutate: () => JsonObject): { mutated: JsonObject | PatchError; durationMs: number } {
  const beganMs = performance.now();
  let mutated: JsonObject | PatchError;
  try {
    mutated = mutate();
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    mutated = error;
  }
  return { mutated, durationMs: performance.now() - beganMs };
}

/** `object`: what those before have made of it, where they have. */
function mutatedBy(
  mutation: Mutator['mutations'][number],
  mutator: Mutator,
  { view, param }: Invocation,
  request: PolicyRequest,
  object: JsonObject | undefined,
): JsonObject {
  const { oldObject, object: original } = request.shown(view);
  const shown = object ?? original!;
  const schema = schemaOf(request.attributes, view);
  const published = isPublished(request.attributes, view) ? schema : undefined;
  const mutated = mutator.mutated(mutation, shown, request.inputs(view, param, { object: shown, oldObject }), published);
  if (mutation.isConfiguration) demandConvertible(schema, mutated, view);
  else if (mutated !== shown) demandOwnKind(request.attributes, schema, view);
  return readBack(mutated, view, mutation.isConfiguration ? undefined : schema);
}

function schemaOf({ definition, subresource }: AdmissionAttributes, { group, version, kind }: AdmissionView): ObjectSchema {
  const own = definition?.subresources?.[subresource];
  const served = definition?.served.find((one) => one.group === group && one.version === version);
  // A status is the object itself, in the version that the policy sees.
  const schema = own && own.kind === kind.kind && own.kind !== served?.kind ? own.schema : served?.schema;
  if (!schema) throw new PatchError(`Resource kind ${kind.kind} not found`);
  return schema;
}

/**
 * Whether the OpenAPI document of the kind's own group version has it, from which alone policies learn of types: that of a subresource of another group (Scale,
 * Eviction, TokenRequest) does not, nor that of what a connection is asked for with (policy/mutating/patch/typeconverter.go).
 */
const isPublished = ({ operation }: AdmissionAttributes, { group, version, kind }: AdmissionView): boolean =>
  operation !== 'CONNECT' && kind.group === group && kind.version === version;

/** What was applied to a built-in object is made one of its type again before it is anything else (policy/mutating/dispatcher.go dispatchOne). */
function demandConvertible(schema: ObjectSchema, applied: JsonObject, { group, version, kind }: AdmissionView): void {
  if (schema.custom !== undefined) return;
  try {
    convert(schema, applied);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new PatchError(`unable to convert unstructured object to ${group}/${version}, Kind=${kind.kind}: ${error.message}`);
  }
}

/** The converter of a custom resource knows no kind but its own, whatever a patched scale was before (apiextensions-apiserver conversion/converter.go). */
function demandOwnKind({ definition }: AdmissionAttributes, schema: ObjectSchema, { kind: { group, version } }: AdmissionView): void {
  if (definition?.schema.custom !== undefined && schema.custom === undefined)
    throw new PatchError(`request to convert CR to an invalid group/version: ${apiVersionOf(group, version)}`);
}

/** What a JSON patch made is read strictly (policy/mutating/patch/json_patch.go); of custom objects, nothing is unknown as yet. */
function readBack(shown: JsonObject, view: AdmissionView, strictSchema: ObjectSchema | undefined): JsonObject {
  try {
    if (strictSchema !== undefined && strictSchema.custom === undefined) refuseUnknown(strictSchema, shown);
    return view.edited(shown);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw strictSchema === undefined ? notConvertible(view, error) : internalError(error.message);
  }
}

/** What a configuration was merged into is converted to its type (policy/mutating/patch/smd.go), which is for the policy to fail at. */
const notConvertible = ({ kind: { group, version, kind } }: AdmissionView, { message }: Error): PatchError =>
  new PatchError(`unable to convert unstructured object to ${group}/${version}, Kind=${kind}: error decoding from json: ${message}`);

function refuseUnknown(schema: ObjectSchema, shown: JsonObject): void {
  const errors: string[] = [];
  decode(schema, shown, { errors });
  if (errors.length > 0) throw internalError(`strict decoding error: ${errors.join(', ')}`);
}

/** A refusal names the object as it was changed. */
function apply({ objects, last, isPatched, failures }: Outcome, attributes: AdmissionAttributes): Promise<void> | void {
  const patched = last && objects.get(last);
  const refuse = (): void => {
    if (failures.length > 0) throw denial(failures, attributes);
  };
  if (!isPatched || !patched) return refuse();
  const replace = (next: SentObject): void => {
    replaceContent(attributes, next);
    if (attributes.reinvocation !== 'running') attributes.reinvocation = 'requested';
    refuse();
  };
  const next = last.read(patched, attributes.object!);
  return next instanceof Promise ? next.then(replace, notConverted) : replace(next);
}

function notConverted(error: unknown): never {
  throw isApiError(error) ? internalError(`failed to convert object: ${error.message}`) : error;
}

/** The first one's words, and all as causes (policy/generic/policy_dispatcher.go). */
function denial(failures: readonly Failure[], attributes: AdmissionAttributes): ApiError {
  const { code, reason, status } = refusal(attributes, '');
  const [first] = failures;
  return new ApiError(code, first!.reason || reason, first!.message, { ...status.details, causes: failures.map(({ message }) => ({ message })) });
}
