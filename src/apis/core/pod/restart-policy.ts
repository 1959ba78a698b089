import type { FieldErrors } from '../../../util/field-errors.ts';
import type { Container, ContainerRestartRule, PodSpec } from '../../facts/types/core-v1.ts';
import { validateOptionalChoice } from '../../validation/choice.ts';

/** A container's own policy, and rules by exit code (KEP-5307, KEP-5532). */
const POLICIES = ['Always', 'Never', 'OnFailure'];
const ACTIONS = ['Restart', 'RestartAllContainers'];
const OPERATORS = ['In', 'NotIn'];
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const POLICY_MISSING = 'must specify restartPolicy when restart rules are used';

/** An init container's rules are not looked at before it has a policy. */
export function validateInitRestartPolicy(container: Container, errors: FieldErrors): void {
  if (container.restartPolicy !== undefined) validateRestartPolicy(container, errors);
  else if (container.restartPolicyRules) errors.at('restartPolicy').required(POLICY_MISSING);
}

export function validateRestartPolicy({ restartPolicy, restartPolicyRules: rules = [] }: Container, errors: FieldErrors): void {
  if (restartPolicy !== undefined) validateOptionalChoice(restartPolicy, POLICIES, errors.at('restartPolicy'));
  else if (rules.length > 0) errors.at('restartPolicy').required(POLICY_MISSING);
  if (rules.length > MAX_RULES) errors.at('restartPolicyRules').tooMany(rules.length, MAX_RULES);
  for (const [index, rule] of rules.entries()) validateRule(rule, errors.at('restartPolicyRules').index(index));
}

function validateRule({ action = '', exitCodes }: ContainerRestartRule, errors: FieldErrors): void {
  validateOptionalChoice(action, ACTIONS, errors.at('action'));
  if (!exitCodes) return errors.at('exitCodes').required('must be specified');
  validateOptionalChoice(exitCodes.operator ?? '', OPERATORS, errors.at('exitCodes', 'operator'));
  const count = (exitCodes.values ?? []).length;
  if (count > MAX_EXIT_CODES) errors.at('exitCodes', 'values').tooMany(count, MAX_EXIT_CODES);
}

/** Whether the container is started again after it ended so: its first rule that applies says, then its policy, then the pod's. */
export function restartsAfter(container: Container, spec: PodSpec, exitCode: number): boolean {
  for (const { action, exitCodes } of container.restartPolicyRules ?? []) {
    if (!exitCodes) continue;
    const isListed = (exitCodes.values ?? []).includes(exitCode);
    if (isListed === (exitCodes.operator === 'In')) return action === 'Restart' || action === 'RestartAllContainers';
  }
  const policy = container.restartPolicy ?? spec.restartPolicy;
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

/** Whether some container's end can restart all of them. */
export const canRestartAll = (spec: PodSpec): boolean =>
  [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  );
