import { type Approval, approvalOf, isProtectedGroup } from '../apis/apiextensions/approval.ts';
import type { CustomResourceDefinition } from '../apis/facts/types/apiextensions-v1.ts';
import { type DefinitionClient, type DefinitionControllerOptions, followDefinitions, keepCondition } from './definition-conditions.ts';

const TYPE = 'KubernetesAPIApprovalPolicyConformant';

const OUTCOMES: Record<Approval['state'], { status: string; reason: string }> = {
  approved: { status: 'True', reason: 'ApprovedAnnotation' },
  bypassed: { status: 'False', reason: 'UnapprovedAnnotation' },
  missing: { status: 'False', reason: 'MissingAnnotation' },
  invalid: { status: 'False', reason: 'InvalidAnnotation' },
};

/** Tells of definitions in the community's groups whether they were approved (apiextensions-apiserver/pkg/controller/apiapproval). */
export function keepApproval(definitions: DefinitionClient, options: DefinitionControllerOptions): Promise<void> {
  const sync = async (name: string): Promise<void> => {
    const current = definitions.informer.get('', name);
    // A group never changes, so that a condition never has to go.
    if (current && isProtectedGroup(current.spec.group)) await keepCondition(definitions, current, TYPE, conditionFor(current), options.now());
  };
  return followDefinitions(definitions, { name: 'kubernetes_api_approval_conformant_condition_controller', sync }, options);
}

function conditionFor({ metadata }: CustomResourceDefinition): { status: string; reason: string; message: string } {
  const { state, reason } = approvalOf(metadata.annotations);
  return { ...OUTCOMES[state], message: reason };
}
