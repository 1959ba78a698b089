import type { ApiObject } from '../api/api-object.ts';
import { invalid } from '../api/errors.ts';
import { type FieldError, FieldErrors, TooManyFieldErrors } from '../api/field-errors.ts';
import { nextTurn } from '../util/time-slice.ts';
import { validateInSlices } from '../api/validation-run.ts';
import type { SentObject } from './write.ts';

type Rules<T> = (object: T, errors: FieldErrors) => void;

interface ValidationOptions {
  validatesSentEmpty?: boolean | undefined;
  /** What the user has no right to set: reported first. */
  forbidden?: readonly FieldError[];
  /** See ResourceDefinition. */
  validatesInSlices?: boolean | undefined;
}

/**
 * Refuses the object, in the form in which it would be stored, if the rules find something wrong. What is told then is what they find in the form that the
 * client sent: values that are not stored, since they are empty, stand in upstream's messages. `validatesSentEmpty`: they count for the rules too.
 * Synchronous, but for a validation in slices that takes longer than one.
 */
export function refuseIfInvalid<T extends ApiObject>(
  kind: { group: string; kind: string },
  write: SentObject<T>,
  rules: Rules<T>,
  options: ValidationOptions = {},
): void | Promise<void> {
  const found = options.validatesInSlices
    ? validateInSlices((beginPass, workOnce) => {
        const inSlices: Rules<T> = (object, errors) => {
          beginPass(errors);
          rules(object, errors);
        };
        return allFindings(write, () => workOnce(() => write.sentEmpty.restoredIn(write.object)), inSlices, options);
      })
    : allFindings(write, () => write.sentEmpty.restoredIn(write.object), rules, options);
  const refuse = (errors: readonly FieldError[]): void => {
    if (errors.length > 0) throw invalid(kind, write.object.metadata.name ?? '', errors);
  };
  // The text of a refusal of megabytes takes as long as to find what is wrong.
  const refuseInTurn = (errors: readonly FieldError[]): void | Promise<void> => (errors.length > 0 ? nextTurn().then(() => refuse(errors)) : undefined);
  if (found instanceof Promise) return found.then(refuseInTurn);
  return options.validatesInSlices ? refuseInTurn(found) : refuse(found);
}

/** `asSent`: the object as it is stored, with what was sent empty; the same where nothing was. */
function allFindings<T extends ApiObject>(
  { object }: SentObject<T>,
  asSent: () => T,
  rules: Rules<T>,
  { validatesSentEmpty = false, forbidden = [] }: ValidationOptions,
): FieldError[] {
  const found = findings(validatesSentEmpty ? asSent() : object, rules);
  return found.length + forbidden.length > 0 ? [...forbidden, ...inWordsOf(asSent(), found, object, rules)] : found;
}

function findings<T>(object: T, rules: Rules<T>): FieldError[] {
  const errors = new FieldErrors();
  try {
    rules(object, errors);
  } catch (error) {
    if (!(error instanceof TooManyFieldErrors)) throw error;
  }
  return errors.list;
}

/** The same findings in other words; where the two forms differ by more than words, what is stored counts. */
function inWordsOf<T extends ApiObject>(whole: T, found: FieldError[], object: T, rules: Rules<T>): FieldError[] {
  if (whole === object) return found;
  const again = findings(whole, rules);
  const isSame = again.length === found.length && again.every(({ type, field }, index) => type === found[index]!.type && field === found[index]!.field);
  return isSame ? again : found;
}
