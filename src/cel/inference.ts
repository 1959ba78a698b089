import { CelType, DYN, isAssignableTo, isDyn, isDynOrError, isSameType } from './types.ts';

/** What type parameters were found to stand for while an expression is checked (cel-go checker/types.go). */
export class Substitutions {
  readonly #bound = new Map<string, CelType>();
  /** What was bound before, to go back: copies would take time quadratic in the length of an expression. */
  readonly #trail: [name: string, before: CelType | undefined][] = [];

  /** Whether `from` may stand where `to` is wanted. What had to be assumed for that is kept where it may, and forgotten where it may not. */
  assign(from: CelType, to: CelType): boolean {
    return this.assignAll([from], [to]);
  }

  assignAll(from: readonly CelType[], to: readonly CelType[]): boolean {
    const isAssignable = this.#areAssignable(from, to);
    if (!isAssignable) this.#goBack();
    this.#trail.length = 0;
    return isAssignable;
  }

  #goBack(): void {
    for (const [name, before] of this.#trail.toReversed()) {
      if (before === undefined) this.#bound.delete(name);
      else this.#bound.set(name, before);
    }
  }

  #set(parameter: CelType, type: CelType): void {
    this.#trail.push([parameter.name, this.#bound.get(parameter.name)]);
    this.#bound.set(parameter.name, type);
  }

  /** The type with what is known put in; what is not known stays, or becomes dyn. */
  apply(type: CelType, isFinal = false): CelType {
    if (type.kind === 'param') {
      const bound = this.#bound.get(type.name);
      if (bound !== undefined) return this.apply(bound, isFinal);
      return isFinal ? DYN : type;
    }
    if (type.parameters.length === 0) return type;
    const parameters = type.parameters.map((parameter) => this.apply(parameter, isFinal));
    return parameters.every((parameter, index) => parameter === type.parameters[index]) ? type : new CelType(type.kind, type.name, parameters, type.isNullable);
  }

  #areAssignable(from: readonly CelType[], to: readonly CelType[]): boolean {
    return from.length === to.length && from.every((type, index) => this.#isAssignable(type, to[index]!));
  }

  #isAssignable(from: CelType, to: CelType): boolean {
    if (to.kind === 'param') {
      const { isValid, wasBound } = this.#bind(from, to);
      if (isValid || wasBound) return isValid;
    }
    if (from.kind === 'param') return this.#bind(to, from).isValid;
    if (isDynOrError(from) || isDynOrError(to)) return true;
    if (from.kind === 'null') return isNullable(to);
    if (to.kind === 'null') return isNullable(from);
    if (from.kind === 'type') return to.kind === 'type';
    if (from.kind === 'opaque' || from.kind === 'list' || from.kind === 'map') {
      return from.kind === to.kind && from.name === to.name && this.#areAssignable(from.parameters, to.parameters);
    }
    return isAssignableTo(to, from);
  }

  /** Lets the parameter stand for the type, or for the more general of it and what it stood for. */
  #bind(type: CelType, parameter: CelType): { isValid: boolean; wasBound: boolean } {
    if (isSameType(type, parameter)) return { isValid: true, wasBound: true };
    const bound = this.#bound.get(parameter.name);
    if (bound === undefined) {
      const isValid = !this.#occursIn(parameter, type);
      if (isValid) this.#set(parameter, type);
      return { isValid, wasBound: false };
    }
    if (isSameType(type, bound)) return { isValid: true, wasBound: true };
    const isValid = this.#isAssignable(type, bound);
    const wider = mostGeneral(type, bound);
    if (isValid && !this.#occursIn(parameter, wider)) this.#set(parameter, wider);
    return { isValid, wasBound: true };
  }

  #occursIn(parameter: CelType, type: CelType): boolean {
    if (isSameType(parameter, type)) return true;
    if (type.kind !== 'param') return type.parameters.some((inner) => this.#occursIn(parameter, inner));
    const bound = this.#bound.get(type.name);
    return bound !== undefined && this.#occursIn(parameter, bound);
  }
}

/** Objects may be null, as the first type checker had it. */
const isNullable = (type: CelType): boolean =>
  type.isNullable || type.kind === 'opaque' || type.kind === 'struct' || type.kind === 'any' || type.kind === 'duration' || type.kind === 'timestamp';

/** Of two types that go together, the one that says less. */
export const mostGeneral = (a: CelType, b: CelType): CelType => (isEqualOrLessSpecific(a, b) ? a : b);

function isEqualOrLessSpecific(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'param') return true;
  if (isDyn(b) || b.kind === 'param' || a.kind !== b.kind) return false;
  if (a.kind === 'type') return true;
  if (a.kind !== 'opaque' && a.kind !== 'list' && a.kind !== 'map') return isSameType(a, b);
  if (a.name !== b.name || a.parameters.length !== b.parameters.length) return false;
  return a.parameters.every((parameter, index) => isEqualOrLessSpecific(parameter, b.parameters[index]!));
}
