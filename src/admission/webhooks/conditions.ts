import type { CompiledExpression } from '../../apis/admissionregistration/expressions.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { PluginEnvironment } from '../plugin.ts';
import { Answers, settled } from '../../util/pending.ts';
import { runInSlices } from '../../util/time-slice.ts';
import { type ConditionsResult, PolicyExpressions, evaluateConditions } from '../policies/policy-expressions.ts';
import { PolicyRequest } from '../policies/policy-request.ts';
import type { Invocation } from './match.ts';
import type { ShownObjects } from './shown-objects.ts';

type MatchConditions = NonNullable<Invocation['webhook']['spec']['matchConditions']>;

const expressions = new PolicyExpressions(false);
const compiled = new WeakMap<MatchConditions, Answers<CompiledExpression[]>>();

/** Whether a webhook's conditions hold for a write, as it would be shown it. */
export function evaluateWebhookConditions(
  environment: PluginEnvironment,
  { webhook, view }: Invocation,
  attributes: AdmissionAttributes,
  shown: ShownObjects,
): ConditionsResult | Promise<ConditionsResult> {
  const { matchConditions = [] } = webhook.spec;
  const request = new PolicyRequest(environment, attributes);
  const inputs = request.inputs(view, undefined, shown);
  return settled(() => evaluateConditions(programsOf(matchConditions), expressions.variables, inputs));
}

/** Compiled when they are first needed. Throws Pending until they are. */
function programsOf(conditions: MatchConditions): CompiledExpression[] {
  let programs = compiled.get(conditions);
  if (!programs) compiled.set(conditions, (programs = new Answers()));
  return programs.get('', () => runInSlices(expressions.compileConditions(conditions)));
}
