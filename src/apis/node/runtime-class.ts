import type { FieldErrors } from '../../api/field-errors.ts';
import { labelName } from '../../api/names.ts';
import { checkEach } from '../../api/validation-run.ts';
import { validateOverhead } from '../core/pod/resources.ts';
import { podRules } from '../core/pod/rules.ts';
import { repeats } from '../validation/repeats.ts';
import { validateTolerations } from '../core/pod/tolerations.ts';
import { defineResource } from '../define.ts';
import type { Toleration } from '../facts/types/core-v1.ts';
import type { RuntimeClass } from '../facts/types/node-v1.ts';
import { nodeLabelWarnings } from '../validation/deprecated-node-labels.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { validateLabelMap } from '../validation/label-selector.ts';

const TOLERATION: InternalFields = [
  ['Key', 'key', ''],
  ['Operator', 'operator', ''],
  ['Value', 'value', ''],
  ['Effect', 'effect', ''],
  ['TolerationSeconds', 'tolerationSeconds'],
];

/** A way to run containers that a node's runtime knows by its handler. */
export const runtimeClasses = defineResource<RuntimeClass>('node.k8s.io/v1/runtimeclasses', {
  createsOnUpdate: true,
  allowsUnconditionalUpdate: false,

  validatesWhole: 'before',
  validate({ object: { handler, overhead, scheduling }, settings }, errors) {
    if (handler === '') errors.at('handler').required();
    else for (const error of labelName(handler, false)) errors.at('handler').invalid(handler, error);
    if (overhead) validateOverhead(overhead.podFixed ?? {}, errors.at('overhead'), podRules(settings, undefined, undefined));
    if (scheduling?.nodeSelector) validateLabelMap(scheduling.nodeSelector, errors.at('scheduling', 'nodeSelector'));
    validateUniqueTolerations(scheduling?.tolerations ?? [], errors.at('scheduling', 'tolerations'));
  },
  validateUpdate: ({ object: { handler }, old }, errors) => validateUnchanged(handler, old.handler, errors.at('handler')),
  warnings: ({ object: { scheduling } }) => nodeLabelWarnings(Object.keys(scheduling?.nodeSelector ?? {}), 'scheduling.nodeSelector'),

  cells: { Handler: ({ handler }) => handler },
});

function validateUniqueTolerations(tolerations: readonly Toleration[], errors: FieldErrors): void {
  validateTolerations(tolerations, errors, { allowsTolerationComparison: false });
  const check = (toleration: Toleration, index: number, isRepeated: (identity: string) => boolean): void => {
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    if (isRepeated(JSON.stringify([key, operator, value, effect]))) errors.index(index).duplicate(internalForm(toleration, TOLERATION));
  };
  checkEach(errors, 'unique', tolerations, check, repeats<string>);
}
