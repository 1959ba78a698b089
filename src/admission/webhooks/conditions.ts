import type { CompiledExpression } from '../../apis/admissionregistration/expressions.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { PluginEnvironment } from '../plugin.ts';
import { settled } from '../../util/pending.ts';
import { type ConditionsResult, PolicyExpressions, evaluateConditions } from '../policies/policy-expressions.ts';
import { PolicyRequest } from '../policies/policy-request.ts';
import type { Invocation } from './match.ts';
import type { ShownObjects } from './shown-objects.ts';

type MatchConditions = NonNullable<Invocation['webhook']['spec']['matchConditions']>;

const expressions = new PolicyExpressions([], false);
const compiled = new WeakMap<MatchConditions, CompiledExpression[]>();

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

function programsOf(conditions: MatchConditions): CompiledExpression[] {
  let programs = compiled.get(conditions);
  if (!programs) compiled.set(conditions, (programs = conditions.map(({ expression }) => expressions.compile(expression, 'bool'))));
  return programs;
}
