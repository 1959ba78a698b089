import { type Approval, approvalOf, isProtectedGroup } from '../apis/apiextensions/approval.ts';
import type { CustomResourceDefinition } from '../apis/facts/types/apiextensions-v1.ts';
import {
  type DefinitionClient,
  type DefinitionControllerOptions,
  findDefinitionCondition,
  followDefinitions,
  isSameCondition,
  setDefinitionCondition,
  updateStatus,
} from './definition-conditions.ts';

const TYPE = 'KubernetesAPIApprovalPolicyConformant';

const OUTCOMES: Record<Approval['state'], { status: string; reason: string }> = {
  approved: { status: 'True', reason: 'ApprovedAnnotation' },
  bypassed: { status: 'False', reason: 'UnapprovedAnnotation' },
  missing: { status: 'False', reason: 'MissingAnnotation' },
  invalid: { status: 'False', reason: 'InvalidAnnotation' },
};

/** Tells of definitions in the community's groups whether they were approved (apiextensions-apiserver/pkg/controller/apiapproval). */
export function keepApproval(definitions: DefinitionClient, options: DefinitionControllerOptions): Promise<void> {
  return followDefinitions(
    definitions,
    async (name) => {
      const current = definitions.informer.get('', name);
      if (!current || isSame(current)) return;
      await updateStatus(definitions, name, (definition) => {
        if (isSame(definition)) return false;
        setDefinitionCondition(definition, conditionFor(definition)!, options.now());
        return true;
      });
    },
    options,
  );
}

function isSame(definition: CustomResourceDefinition): boolean {
  const wanted = conditionFor(definition);
  // A group never changes, so that a condition never has to go.
  return wanted === undefined || isSameCondition(findDefinitionCondition(definition, TYPE), { ...wanted, lastTransitionTime: null });
}

function conditionFor({ metadata, spec }: CustomResourceDefinition): { type: string; status: string; reason: string; message: string } | undefined {
  if (!isProtectedGroup(spec.group)) return undefined;
  const { state, reason } = approvalOf(metadata.annotations);
  return { type: TYPE, ...OUTCOMES[state], message: reason };
}
