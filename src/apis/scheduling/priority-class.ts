import type { FieldErrors } from '../../api/field-errors.ts';
import { defineResource } from '../define.ts';
import type { PriorityClass } from '../facts/types/scheduling-v1.ts';
import { validateChoice } from '../validation/choice.ts';
import { validateUnchanged } from '../validation/immutable.ts';

const SYSTEM_PREFIX = 'system-';
const USER_MAX = 1_000_000_000;
/** What the server makes itself, with their values (pkg/apis/scheduling/v1/helpers.go). None is the default class. */
const SYSTEM_CLASSES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
]);

/** A name for how much a pod matters against others. */
export const priorityClasses = defineResource<PriorityClass>('scheduling.k8s.io/v1/priorityclasses', {
  validatesFinalizerNames: true,
  default(priorityClass) {
    priorityClass.preemptionPolicy ??= 'PreemptLowerPriority';
  },
  /** Stays 1: nothing of it can change that a controller would have to see. */
  prepareForCreate({ object: { metadata } }) {
    metadata.generation = 1;
  },

  validate({ object: priorityClass }, errors) {
    validateValue(priorityClass, errors);
    if (priorityClass.preemptionPolicy !== undefined)
      validateChoice(priorityClass.preemptionPolicy, ['PreemptLowerPriority', 'Never'], errors.at('preemptionPolicy'));
  },
  validateUpdate({ object: priorityClass, old }, errors) {
    if (priorityClass.value !== old.value) errors.at('value').forbidden('may not be changed in an update.');
    validateUnchanged(priorityClass.preemptionPolicy, old.preemptionPolicy, errors.at('preemptionPolicy'));
  },

  deletion: { refusal: (name) => (SYSTEM_CLASSES.has(name) ? 'this is a system priority class and cannot be deleted' : undefined) },

  cells: {
    Value: ({ value }) => value,
    'Global-Default': ({ globalDefault }) => globalDefault ?? false,
    PreemptionPolicy: ({ preemptionPolicy }) => preemptionPolicy ?? '',
  },
});

function validateValue(priorityClass: PriorityClass, errors: FieldErrors): void {
  if (!priorityClass.metadata.name?.startsWith(SYSTEM_PREFIX)) {
    if (priorityClass.value > USER_MAX) errors.at('value').forbidden(`maximum allowed value of a user defined priority is ${USER_MAX}`);
    return;
  }
  const problem = systemClassProblem(priorityClass, priorityClass.metadata.name);
  if (problem !== undefined)
    errors.at('metadata', 'name').forbidden(`priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${problem}`);
}

function systemClassProblem({ value, globalDefault }: PriorityClass, name: string): string | undefined {
  const expected = SYSTEM_CLASSES.get(name);
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
