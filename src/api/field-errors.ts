import { formatGo } from '../encoding/go-format.ts';
import { LIMITS } from '../util/limits.ts';
import { stringifyJson } from '../encoding/json-writer.ts';
import { quote } from '../util/go-quote.ts';
import { aggregateMessage } from './aggregate-message.ts';

/** Why a field is refused; the values are the Status causes' reasons (apimachinery/pkg/util/validation/field). */
export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError'
  | 'FieldValueTypeInvalid';

export interface FieldError {
  type: FieldErrorType;
  /** `spec.containers[0].ports[http].name` */
  field: string;
  /** What follows the path in a message: `Invalid value: "x": must be …` */
  body: string;
}

/** A text whose Go type upstream is not plainly a string, but a pointer to one or a type of its own: such are printed as JSON, others as Go quotes them. */
export class TextPointer {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value as upstream prints it in a field error: strings quoted as Go quotes them, numbers as Go prints them, the rest as JSON. */
export function printValue(value: unknown): string {
  if (value instanceof TextPointer) return stringifyJson(value.text);
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return formatGo(value);
  return stringifyJson(value);
}

/** `a.b: Required value` for one; `[first, second]` for several; equal messages once (utilerrors.NewAggregate). */
export function summarize(errors: readonly FieldError[]): string {
  return aggregateMessage(errors.map((e) => `${e.field}: ${e.body}`));
}

/** How many characters the errors of a list have. Each may show a value of megabytes, or an enumeration of as many. */
const charactersOf = new WeakMap<readonly FieldError[], number>();

/** Ends a validation that finds no end: the client is told of the errors so far. */
export class TooManyFieldErrors extends Error {
  readonly list: readonly FieldError[];
  constructor(list: readonly FieldError[]) {
    super('too many field errors');
    this.list = list;
  }
}

/**
 * A place in an object, and the list that errors found there go to. `errors.at('spec').at('ports').index(0).required('…')`.
 * Children share their parent's list, so order of errors is order of checks, as upstream's. Throws TooManyFieldErrors.
 */
export class FieldErrors {
  readonly list: FieldError[];
  /** Validation makes thousands of places and tells of few: what a place is called is put together when it is told. */
  readonly #step: string | number;
  readonly #isItem: boolean;
  readonly #above: FieldErrors | undefined;
  constructor(step: string | number = '', list: FieldError[] = [], isItem = false, above?: FieldErrors) {
    this.list = list;
    this.#step = step;
    this.#isItem = isItem;
    this.#above = above;
  }

  /** `spec.ports[0]` */
  get path(): string {
    const above = this.#above === undefined ? '' : this.#above.path;
    if (this.#isItem) return `${above}[${this.#step}]`;
    return above === '' ? String(this.#step) : `${above}.${this.#step}`;
  }

  /** A named child; several names go several levels down. */
  at(name: string, ...names: readonly string[]): FieldErrors {
    let place = new FieldErrors(name, this.list, false, this);
    for (const deeper of names) place = new FieldErrors(deeper, this.list, false, place);
    return place;
  }
  index(index: number): FieldErrors {
    return new FieldErrors(index, this.list, true, this);
  }
  key(key: string): FieldErrors {
    return new FieldErrors(key, this.list, true, this);
  }

  get isEmpty(): boolean {
    return this.list.length === 0;
  }

  #add(type: FieldErrorType, text: string): void {
    const field = this.path || '[]';
    const body = text.length > LIMITS.fieldErrorCharacters ? `${text.slice(0, LIMITS.fieldErrorCharacters)}…` : text;
    this.list.push({ type, field, body });
    const characters = (charactersOf.get(this.list) ?? 0) + field.length + body.length;
    charactersOf.set(this.list, characters);
    // So many errors say that an object is no use; a body has room for a million of them, and their text for a hundred times its size. The first may show
    // a value of megabytes: so much of it as all errors may have.
    if (this.list.length >= LIMITS.fieldErrors || characters >= LIMITS.fieldErrorCharacters) throw new TooManyFieldErrors(this.list);
  }
  required(detail = ''): void {
    this.#add('FieldValueRequired', withDetail('Required value', detail));
  }
  invalid(value: unknown, detail: string): void {
    this.#add('FieldValueInvalid', withDetail(`Invalid value: ${printValue(value)}`, detail));
  }
  /** The same for a string whose Go type is one of its own, or a pointer: such are printed as JSON. */
  invalidTyped(value: string | undefined, detail: string): void {
    this.invalid(value === undefined ? null : new TextPointer(value), detail);
  }
  /** The same for a value that is too large, or told too little, to be shown. */
  invalidUnshown(detail: string): void {
    this.#add('FieldValueInvalid', withDetail('Invalid value', detail));
  }
  typeInvalid(value: unknown, detail: string): void {
    this.#add('FieldValueTypeInvalid', withDetail(`Invalid value: ${printValue(value)}`, detail));
  }
  /** `supported` in the order in which it is to be printed. Values of enumerations have a Go type of their own, and such strings are printed as JSON. */
  notSupported(value: unknown, supported: readonly string[]): void {
    this.#addNotSupported(typeof value === 'string' ? stringifyJson(value) : printValue(value), supported);
  }
  /** The same for a value whose Go type is no more than a string. */
  notSupportedString(value: string, supported: readonly string[]): void {
    this.#addNotSupported(quote(value), supported);
  }
  #addNotSupported(shown: string, supported: readonly string[]): void {
    const list = supported.map(quote).join(', ');
    this.#add('FieldValueNotSupported', withDetail(`Unsupported value: ${shown}`, supported.length > 0 ? `supported values: ${list}` : ''));
  }
  forbidden(detail: string): void {
    this.#add('FieldValueForbidden', withDetail('Forbidden', detail));
  }
  duplicate(value: unknown, detail = ''): void {
    this.#add('FieldValueDuplicate', withDetail(`Duplicate value: ${printValue(value)}`, detail));
  }
  /** The same for a string whose Go type is one of its own, or a pointer. */
  duplicateTyped(value: string): void {
    this.duplicate(new TextPointer(value));
  }
  /** The same for a value that is too large to be shown. */
  duplicateUnshown(): void {
    this.#add('FieldValueDuplicate', 'Duplicate value');
  }
  notFound(value: unknown, detail = ''): void {
    this.#add('FieldValueNotFound', withDetail(`Not found: ${printValue(value)}`, detail));
  }
  tooLong(maxBytes: number): void {
    this.#add('FieldValueTooLong', `Too long: ${maxBytes < 0 ? 'value is too long' : `may not be more than ${maxBytes} ${maxBytes === 1 ? 'byte' : 'bytes'}`}`);
  }
  tooMany(actual: number, max: number): void {
    this.#add('FieldValueTooMany', `Too many: ${actual}: ${max < 0 ? 'has too many items' : `must have at most ${max} ${max === 1 ? 'item' : 'items'}`}`);
  }
  internal(detail: string): void {
    this.#add('InternalError', `Internal error: ${detail}`);
  }
}

const withDetail = (head: string, detail: string): string => (detail === '' ? head : `${head}: ${detail}`);
