import type { CustomResourceDefinition } from '../apis/facts/types/apiextensions-v1.ts';
import { caBundleProblem } from '../apis/validation/ca-bundle.ts';
import {
  type DefinitionClient,
  type DefinitionControllerOptions,
  findDefinitionCondition,
  followDefinitions,
  isConditionTrue,
  isSameCondition,
  setDefinitionCondition,
  updateStatus,
} from './definition-conditions.ts';

export interface ConditionOutcome {
  status: 'True' | 'False';
  reason: string;
  message: string;
}

const ESTABLISHED: ConditionOutcome = { status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' };
const INVALID_CA_BUNDLE: ConditionOutcome = { status: 'False', reason: 'InvalidCABundle', message: 'The conversion webhook CABundle is invalid' };

/** Calls a definition established once its names are accepted: from then on its resource is served (apiextensions-apiserver/pkg/controller/establish). */
export function keepEstablished(definitions: DefinitionClient, options: DefinitionControllerOptions): Promise<void> {
  const sync = async (name: string): Promise<void> => {
    const current = definitions.informer.get('', name);
    if (!current || !isDue(current)) return;
    await updateStatus(definitions, name, (definition) => {
      const outcome = establishedOutcome(definition);
      if (!isDue(definition) || isSameCondition(findDefinitionCondition(definition, 'Established'), outcome)) return false;
      setDefinitionCondition(definition, { type: 'Established', ...outcome }, options.now());
      return true;
    });
  };
  return followDefinitions(definitions, { name: 'crdEstablishing', sync }, options);
}

const isDue = (definition: CustomResourceDefinition): boolean => isConditionTrue(definition, 'NamesAccepted') && !isConditionTrue(definition, 'Established');

export function establishedOutcome({ spec }: CustomResourceDefinition): ConditionOutcome {
  const bundle = spec.conversion?.webhook?.clientConfig?.caBundle ?? '';
  return caBundleProblem(bundle) === undefined ? ESTABLISHED : INVALID_CA_BUNDLE;
}
