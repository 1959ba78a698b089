import type { FieldErrors } from '../../../api/field-errors.ts';
import type { Container, ContainerRestartRule, PodSpec } from '../../facts/types/core-v1.ts';
import { validateOptionalChoice } from '../../validation/choice.ts';
import { isSidecar } from './containers-of.ts';
import type { PodRules } from './rules.ts';

/** A container's own policy, and rules by exit code (KEP-5307, KEP-5532). */
const POLICIES = ['Always', 'Never', 'OnFailure'];
const RESTART_ALL = 'RestartAllContainers';
const actions = ({ allowsRestartAll }: PodRules): string[] => (allowsRestartAll ? ['Restart', RESTART_ALL] : ['Restart']);
const OPERATORS = ['In', 'NotIn'];
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const POLICY_MISSING = 'must specify restartPolicy when restart rules are used';

/** An init container's rules are not looked at before it has a policy. */
export function validateInitRestartPolicy(container: Container, errors: FieldErrors, rules: PodRules): void {
  const { restartPolicy, restartPolicyRules = [] } = container;
  if (restartPolicy === undefined) {
    if (restartPolicyRules.length > 0) errors.at('restartPolicy').required(POLICY_MISSING);
  } else if (!rules.allowsRestartRules) validateOptionalChoice(restartPolicy, ['Always'], errors.at('restartPolicy'));
  else if (isSidecar(container) && !rules.allowsRestartAll) {
    if (restartPolicyRules.length > 0)
      errors.at('restartPolicyRules').forbidden('restartPolicyRules are not allowed for init containers with restart policy Always');
  } else validateOwnPolicy(container, errors, rules);
}

export function validateRestartPolicy(container: Container, errors: FieldErrors, rules: PodRules): void {
  if (rules.allowsRestartRules) validateOwnPolicy(container, errors, rules);
  else if (container.restartPolicy !== undefined) errors.at('restartPolicy').forbidden('may not be set for non-init containers');
}

function validateOwnPolicy({ restartPolicy, restartPolicyRules: rules = [] }: Container, errors: FieldErrors, podRules: PodRules): void {
  if (restartPolicy !== undefined) validateOptionalChoice(restartPolicy, POLICIES, errors.at('restartPolicy'));
  else if (rules.length > 0) errors.at('restartPolicy').required(POLICY_MISSING);
  if (rules.length > MAX_RULES) errors.at('restartPolicyRules').tooMany(rules.length, MAX_RULES);
  for (const [index, rule] of rules.entries()) validateRule(rule, errors.at('restartPolicyRules').index(index), podRules);
}

function validateRule({ action = '', exitCodes }: ContainerRestartRule, errors: FieldErrors, rules: PodRules): void {
  validateOptionalChoice(action, actions(rules), errors.at('action'));
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
    if (isListed === (exitCodes.operator === 'In')) return action === 'Restart' || action === RESTART_ALL;
  }
  const policy = container.restartPolicy ?? spec.restartPolicy;
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

/** Whether some container's end can restart all of them. */
export const canRestartAll = (spec: PodSpec): boolean =>
  [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === RESTART_ALL),
  );
