import { structuralErrors, structuralProblem } from '../apis/apiextensions/structural.ts';
import type { CustomResourceDefinition } from '../apis/facts/types/apiextensions-v1.ts';
import { FieldErrors, summarize } from '../api/field-errors.ts';
import { once, validateInSlices } from '../api/validation-run.ts';
import { type DefinitionClient, type DefinitionControllerOptions, followDefinitions, keepCondition } from './definition-conditions.ts';

const TYPE = 'NonStructuralSchema';

/** Marks definitions whose schemas break the rules of structural ones: such as were stored before those were demanded (…/controller/nonstructuralschema). */
export async function keepNonStructuralSchemas(definitions: DefinitionClient, options: DefinitionControllerOptions): Promise<void> {
  const seenGenerations = new Map<string, number>();
  await definitions.informer.synced;
  const validated = definitions.informer.list('').filter(({ status }) => (status.conditions ?? []).length > 0);
  const wasThere = new Set(validated.map(({ metadata }) => metadata.name!));
  const sync = async (name: string): Promise<void> => {
    const current = definitions.informer.get('', name);
    if (!current) return void seenGenerations.delete(name);
    const generation = current.metadata.generation ?? 0;
    const seen = seenGenerations.get(name);
    if (generation <= (seen ?? -1)) return;
    // Those of an earlier life of the server were validated then; doing it again would delay the start.
    if (seen !== undefined || !wasThere.has(name)) await keepCondition(definitions, current, TYPE, await conditionFor(current), options.now());
    seenGenerations.set(name, generation);
  };
  return followDefinitions(definitions, { name: 'non_structural_schema_condition_controller', sync }, options);
}

interface Outcome {
  status: string;
  reason: string;
  message: string;
}

/** A definition may have thousands of fields in each of its versions: others have their turn meanwhile. */
const conditionFor = ({ spec }: CustomResourceDefinition): Promise<Outcome | undefined> | Outcome | undefined =>
  validateInSlices((beginPass) => {
    const errors = new FieldErrors();
    beginPass(errors);
    return outcomeOf(spec, errors);
  });

function outcomeOf(spec: CustomResourceDefinition['spec'], errors: FieldErrors): Outcome | undefined {
  if (spec.preserveUnknownFields) errors.at('spec', 'preserveUnknownFields').invalid(true, 'must be false');
  for (const [index, { name, schema }] of (spec.versions ?? []).entries()) {
    if (!schema?.openAPIV3Schema) continue;
    const at = errors.at('spec', 'versions').index(index).at('schema', 'openAPIV3Schema');
    const problem = once(at, 'problem', () => structuralProblem(schema.openAPIV3Schema));
    if (problem !== undefined)
      return { status: 'Unknown', reason: 'StructuralError', message: `failed to check validation schema for version ${name}: ${problem}` };
    errors.list.push(...structuralErrors(schema.openAPIV3Schema, at));
  }
  return errors.isEmpty ? undefined : { status: 'True', reason: 'Violations', message: summarize(errors.list) };
}
