import type { FieldErrors } from '../../../api/field-errors.ts';
import { isJsonObject, parseJson } from '../../../encoding/json.ts';
import type { Json } from '../../../encoding/json-types.ts';
import { labelValueErrors, qualifiedNameErrors } from '../../../api/names.ts';
import { checkEach } from '../../../api/validation-run.ts';
import type { Taint } from '../../facts/types/core-v1.ts';
import { validateChoice } from '../../validation/choice.ts';
import { type InternalFields, internalForm } from '../../validation/internal-form.ts';
import { repeats } from '../../validation/repeats.ts';
import { TAINT_EFFECTS } from '../pod/tolerations.ts';

const TAINT: InternalFields = [
  ['Key', 'key', ''],
  ['Value', 'value', ''],
  ['Effect', 'effect', ''],
  ['TimeAdded', 'timeAdded'],
];
/** Where taints were before they were a field. */
const TAINTS_ANNOTATION = 'scheduler.alpha.kubernetes.io/taints';
const AVOID_PODS_ANNOTATION = 'scheduler.alpha.kubernetes.io/preferAvoidPods';

export function validateTaints(taints: readonly Taint[], errors: FieldErrors): void {
  checkEach(errors, 'taints', taints, (taint, index, isRepeated) => validateTaint(taint, isRepeated, errors.index(index)), repeats<string>);
}

function validateTaint(taint: Taint, isRepeated: (identity: string) => boolean, errors: FieldErrors): void {
  const { key, value = '', effect } = taint;
  for (const error of qualifiedNameErrors(key)) errors.at('key').invalid(key, error);
  const problems = labelValueErrors(value);
  if (problems.length > 0) errors.at('value').invalid(value, problems.join(';'));
  validateChoice(effect, TAINT_EFFECTS, errors.at('effect'));
  if (isRepeated(`${effect}/${key}`)) errors.duplicate(internalForm(taint, TAINT), 'taints must be unique by key and effect pair');
}

/** `errors` stands at the annotations. */
export function validateNodeAnnotations(annotations: Record<string, string>, errors: FieldErrors): void {
  const taints = annotations[TAINTS_ANNOTATION];
  if (taints) readJson(taints, TAINTS_ANNOTATION, errors, (list) => validateTaints(asList(list).map(taintOf), errors.at(TAINTS_ANNOTATION)));
  const avoided = annotations[AVOID_PODS_ANNOTATION];
  if (avoided) readJson(avoided, AVOID_PODS_ANNOTATION, errors.at('AvoidPods'), (value) => validateAvoidedPods(value, errors.at(AVOID_PODS_ANNOTATION)));
}

function readJson(text: string, annotation: string, errors: FieldErrors, validate: (value: Json) => void): void {
  let value: Json;
  try {
    value = parseJson(text);
  } catch (error) {
    return errors.invalid(annotation, (error as Error).message);
  }
  validate(value);
}

const asList = (value: Json): Json[] => (Array.isArray(value) ? value : []);
const textAt = (value: Json, key: string): string => (isJsonObject(value) && typeof value[key] === 'string' ? value[key] : '');
const taintOf = (value: Json): Taint => ({ key: textAt(value, 'key'), value: textAt(value, 'value'), effect: textAt(value, 'effect') });

function validateAvoidedPods(value: Json, errors: FieldErrors): void {
  for (const [index, entry] of asList(isJsonObject(value) ? (value['preferAvoidPods'] ?? null) : null).entries()) {
    const signature = isJsonObject(entry) ? entry['podSignature'] : undefined;
    const controller = isJsonObject(signature) ? signature['podController'] : undefined;
    const at = errors.index(index).at('PodSignature');
    if (!isJsonObject(controller)) at.required();
    else if (controller['controller'] !== true) at.at('PodController', 'Controller').invalid(false, 'must point to a controller');
  }
}
