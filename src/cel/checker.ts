import { qualifiedName, type Call, type Comprehension, type Expr, type ListExpr, type MapExpr, type Select, type StructExpr } from './ast.ts';
import type { FunctionDeclaration, Overload } from './declarations.ts';
import type { Environment } from './environment.ts';
import { Substitutions, mostGeneral } from './inference.ts';
import * as operators from './operators.ts';
import type { CelIssue } from './source.ts';
import {
  BOOL,
  CelType,
  DYN,
  ERROR,
  INT,
  declaredName,
  formatSignature,
  formatType,
  isDyn,
  isDynOrError,
  isOptional,
  isSameType,
  listType,
  mapType,
  optionalType,
  paramType,
  typeType,
  unwrapOptional,
} from './types.ts';
import { typeOf } from './values.ts';

/** What a name or a call turned out to mean. */
export type Reference = VariableReference | TypeReference | FunctionReference;

export interface VariableReference {
  kind: 'variable';
  /** In full, as it was declared. */
  name: string;
}

/** The name of a type, which is a constant. */
export interface TypeReference {
  kind: 'type';
  type: CelType;
}

export interface FunctionReference {
  kind: 'function';
  declaration: FunctionDeclaration;
  /** All that fit; which one it is may only be known when values are there. */
  overloads: readonly Overload[];
  /** Whether what looks like a receiver is a part of the function's name. */
  isNamespaced: boolean;
}

/** An expression whose types are right. */
export interface CheckedExpr {
  readonly expr: Expr;
  readonly types: ReadonlyMap<Expr, CelType>;
  readonly references: ReadonlyMap<Expr, Reference>;
}

/** What a name in a checked expression means; undefined for what is none. A struct has a type, but does not name it. */
export function meaningOf({ references }: CheckedExpr, expr: Expr): VariableReference | TypeReference | undefined {
  const reference = references.get(expr);
  return reference?.kind === 'variable' || (reference?.kind === 'type' && expr.kind !== 'struct') ? reference : undefined;
}

/** The function that is called; undefined where the checker found none. */
export const functionOf = ({ references }: CheckedExpr, call: Call): FunctionReference | undefined => references.get(call) as FunctionReference | undefined;

/** Overloads that compare numbers of different types; they can be turned off. */
const MIXED_COMPARISON = /^(?:less|greater)(?:_equals)?_(?:int64_(?:uint64|double)|uint64_(?:int64|double)|double_(?:int64|uint64))$/;

/** Types of all subexpressions, and what is wrong with them. Wording and order are those of cel-go's checker. */
export function check(expr: Expr, environment: Environment): { checked: CheckedExpr; issues: CelIssue[] } {
  const checker = new Checker(environment);
  return checker.run(expr);
}

class Scope {
  readonly #variables = new Map<string, CelType>();
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  declare(name: string, type: CelType): void {
    this.#variables.set(name, type);
  }

  find(name: string): CelType | undefined {
    return this.#variables.get(name) ?? this.#outer?.find(name);
  }
}

class Checker {
  readonly #environment: Environment;
  readonly #types = new Map<Expr, CelType>();
  readonly #references = new Map<Expr, Reference>();
  readonly #issues: CelIssue[] = [];
  readonly #substitutions = new Substitutions();
  #scope = new Scope();
  #freeParameters = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  run(expr: Expr): { checked: CheckedExpr; issues: CelIssue[] } {
    this.#check(expr);
    for (const [node, type] of this.#types) this.#types.set(node, this.#substitutions.apply(type, true));
    return { checked: { expr, types: this.#types, references: this.#references }, issues: this.#issues };
  }

  #report(offset: number, message: string): CelType {
    this.#issues.push({ offset, message });
    return ERROR;
  }

  #undeclared(offset: number, name: string): CelType {
    return this.#report(offset, `undeclared reference to '${name}' (in container '${this.#environment.container}')`);
  }

  #check(expr: Expr): CelType {
    const type = this.#typeOf(expr);
    this.#types.set(expr, type);
    return type;
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case 'literal':
        return typeOf(expr.value);
      case 'ident':
        return this.#name(expr, expr.name) ?? this.#undeclared(expr.offset, expr.name);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return this.#struct(expr);
      case 'comprehension':
        return this.#comprehension(expr);
      default:
        return ERROR;
    }
  }

  /** The type of what a name means, which is noted down; undefined where it means nothing. */
  #name(expr: Expr, name: string): CelType | undefined {
    const found = this.#lookUp(name);
    if (found === undefined) return undefined;
    this.#references.set(expr, found.reference);
    return found.type;
  }

  #lookUp(name: string): { reference: VariableReference | TypeReference; type: CelType } | undefined {
    return this.#first(name, (candidate) => {
      const variable = this.#scope.find(candidate) ?? this.#environment.findVariable(candidate);
      if (variable !== undefined) return { reference: { kind: 'variable', name: candidate }, type: variable };
      const type = this.#environment.findType(candidate);
      return type && { reference: { kind: 'type', type }, type: typeType(type) };
    });
  }

  /** What is found under the first of the names that a name may stand for. */
  #first<T>(name: string, find: (candidate: string) => T | undefined): T | undefined {
    for (const candidate of this.#environment.candidates(name)) {
      const found = find(candidate);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #select(expr: Select): CelType {
    const name = qualifiedName(expr);
    const named = name === undefined ? undefined : this.#name(expr, name);
    if (named !== undefined) return named;
    const type = this.#field(expr, expr.operand, expr.field, false);
    return expr.isTest ? BOOL : this.#substitutions.apply(type);
  }

  #field(expr: Expr, operand: Expr, field: string, isOptionalSelect: boolean): CelType {
    const operandType = this.#substitutions.apply(this.#check(operand));
    const type = this.#fieldOf(expr, unwrapOptional(operandType), field);
    return isOptionalSelect || isOptional(operandType) ? optionalType(type) : type;
  }

  #fieldOf(expr: Expr, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return target.parameters[1]!;
      case 'struct':
        return this.#structField(expr.offset, target.name, field);
      case 'param':
        // What is selected from can be anything from here on.
        this.#substitutions.assign(DYN, target);
        return DYN;
      default:
        if (!isDynOrError(target)) this.#report(expr.offset, `type '${formatType(target)}' does not support field selection`);
        return DYN;
    }
  }

  #structField(offset: number, typeName: string, field: string): CelType {
    if (this.#environment.findType(typeName) === undefined) return this.#report(offset, `unexpected failed resolution of '${typeName}'`);
    return this.#environment.findField(typeName, field) ?? this.#report(offset, `undefined field '${field}'`);
  }

  #call(expr: Call): CelType {
    if (expr.name === operators.OPTIONAL_SELECT) return this.#optionalSelect(expr);
    const args = expr.args.map((arg) => this.#check(arg));
    if (expr.target === undefined) {
      const declaration = this.#findFunction(expr.name);
      return declaration === undefined ? this.#undeclared(expr.offset, expr.name) : this.#resolve(expr, declaration, args, false);
    }
    const prefix = qualifiedName(expr.target);
    const namespaced = prefix === undefined ? undefined : this.#findFunction(`${prefix}.${expr.name}`);
    if (namespaced !== undefined) return this.#resolve(expr, namespaced, args, true);
    const target = this.#check(expr.target);
    const declaration = this.#findFunction(expr.name);
    return declaration === undefined ? this.#undeclared(expr.offset, expr.name) : this.#resolve(expr, declaration, [target, ...args], false);
  }

  #optionalSelect(expr: Call): CelType {
    const [operand, field] = expr.args;
    const name = field?.kind === 'literal' ? field.value : undefined;
    const type = this.#substitutions.apply(this.#field(expr, operand!, String(name), true));
    const declaration = this.#findFunction(operators.OPTIONAL_SELECT)!;
    this.#references.set(expr, { kind: 'function', declaration, overloads: declaration.overloads, isNamespaced: false });
    return type;
  }

  #findFunction(name: string): FunctionDeclaration | undefined {
    return this.#first(name, (candidate) => this.#environment.findFunction(candidate));
  }

  #resolve(expr: Call, declaration: FunctionDeclaration, args: readonly CelType[], isNamespaced: boolean): CelType {
    const isMember = expr.target !== undefined && !isNamespaced;
    if (declaration.name === operators.LOGICAL_AND || declaration.name === operators.LOGICAL_OR) return this.#logical(expr, declaration, args);
    const fitting: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of declaration.overloads) {
      if (overload.isMember !== isMember || (!this.#environment.hasMixedComparisons && MIXED_COMPARISON.test(overload.id))) continue;
      const type = this.#fit(overload, args);
      if (type === undefined) continue;
      fitting.push(overload);
      result = result === undefined || isDyn(result) || isSameType(type, result) ? (result ?? type) : DYN;
    }
    if (result === undefined) {
      const signature = formatSignature(
        args.map((arg) => this.#substitutions.apply(arg, true)),
        isMember,
      );
      return this.#report(expr.offset, `found no matching overload for '${declaration.name}' applied to '${signature}'`);
    }
    this.#references.set(expr, { kind: 'function', declaration, overloads: fitting, isNamespaced });
    return result;
  }

  /** The result's type, where the arguments fit. */
  #fit(overload: Overload, args: readonly CelType[]): CelType | undefined {
    if (overload.parameters.length !== args.length) return undefined;
    const fresh = new Map<string, CelType>();
    const parameters = overload.parameters.map((type) => this.#renew(type, fresh));
    const result = this.#renew(overload.result, fresh);
    return this.#substitutions.assignAll(args, parameters) ? this.#substitutions.apply(result) : undefined;
  }

  /** With parameters of its own for this one call. */
  #renew(type: CelType, fresh: Map<string, CelType>): CelType {
    if (type.kind === 'param') {
      const renewed = fresh.get(type.name) ?? this.#freeParameter();
      fresh.set(type.name, renewed);
      return renewed;
    }
    if (type.parameters.length === 0) return type;
    return new CelType(
      type.kind,
      type.name,
      type.parameters.map((parameter) => this.#renew(parameter, fresh)),
      type.isNullable,
    );
  }

  #freeParameter(): CelType {
    return paramType(`_var${this.#freeParameters++}`);
  }

  #logical(expr: Call, declaration: FunctionDeclaration, args: readonly CelType[]): CelType {
    let isRight = true;
    for (const [index, arg] of args.entries()) {
      if (this.#substitutions.assign(arg, BOOL)) continue;
      this.#mismatch(expr.args[index]!.offset, BOOL, arg);
      isRight = false;
    }
    if (!isRight) return ERROR;
    this.#references.set(expr, { kind: 'function', declaration, overloads: declaration.overloads, isNamespaced: false });
    return BOOL;
  }

  #mismatch(offset: number, expected: CelType, actual: CelType): CelType {
    return this.#report(offset, `expected type '${formatType(expected)}' but found '${formatType(actual)}'`);
  }

  #list(expr: ListExpr): CelType {
    let joined: CelType | undefined;
    for (const [index, element] of expr.elements.entries()) {
      const type = this.#check(element);
      joined = this.#join(joined, expr.optionalIndexes.has(index) ? this.#unwrapElement(element, type) : type);
    }
    return listType(joined ?? this.#freeParameter());
  }

  /** What an element or entry with a question mark adds. */
  #unwrapElement(expr: Expr, type: CelType): CelType {
    const inner = unwrapOptional(type);
    if (!isOptional(type) && !isDyn(type)) this.#mismatch(expr.offset, optionalType(type), type);
    return inner;
  }

  #map(expr: MapExpr): CelType {
    let keys: CelType | undefined;
    let values: CelType | undefined;
    for (const entry of expr.entries) {
      keys = this.#join(keys, this.#check(entry.key));
      const type = this.#check(entry.value);
      values = this.#join(values, entry.isOptional ? this.#unwrapElement(entry.value, type) : type);
    }
    return mapType(keys ?? this.#freeParameter(), values ?? this.#freeParameter());
  }

  #join(previous: CelType | undefined, next: CelType): CelType {
    if (previous === undefined) return next;
    return this.#substitutions.assign(previous, next) ? mostGeneral(previous, next) : DYN;
  }

  #struct(expr: StructExpr): CelType {
    const found = this.#lookUp(expr.typeName);
    if (found === undefined) return this.#undeclared(expr.offset, expr.typeName);
    this.#references.set(expr, found.reference);
    const type = this.#messageType(expr, found);
    for (const field of expr.fields) {
      const value = this.#check(field.value);
      const declared = this.#structField(field.offset, type.name, field.name);
      const actual = field.isOptional ? this.#unwrapElement(field.value, value) : value;
      if (this.#substitutions.assign(declared, actual)) continue;
      this.#report(field.offset, `expected type of field '${field.name}' is '${formatType(declared)}' but provided type is '${formatType(actual)}'`);
    }
    return type;
  }

  #messageType(expr: StructExpr, { reference, type }: { reference: VariableReference | TypeReference; type: CelType }): CelType {
    if (reference.kind !== 'type') return this.#report(expr.offset, `'${declaredName(type)}' is not a type`);
    if (reference.type.kind !== 'struct') return this.#report(expr.offset, `'${declaredName(reference.type)}' is not a message type`);
    return reference.type;
  }

  #comprehension(expr: Comprehension): CelType {
    const range = this.#substitutions.apply(this.#check(expr.range));
    const accumulator = this.#check(expr.init);
    const outer = this.#scope;
    const whole = new Scope(outer);
    whole.declare(expr.accumulator, accumulator);
    const loop = new Scope(whole);
    const [type, type2] = this.#iterationTypes(expr, range);
    loop.declare(expr.variable, type);
    if (expr.variable2 !== undefined) loop.declare(expr.variable2, type2);
    this.#scope = loop;
    this.#assert(expr.condition, BOOL);
    this.#assert(expr.step, accumulator);
    this.#scope = whole;
    const result = this.#check(expr.result);
    this.#scope = outer;
    return this.#substitutions.apply(result);
  }

  #assert(expr: Expr, wanted: CelType): void {
    const type = this.#check(expr);
    if (!this.#substitutions.assign(wanted, type)) this.#mismatch(expr.offset, wanted, type);
  }

  #iterationTypes(expr: Comprehension, range: CelType): [CelType, CelType] {
    const hasTwo = expr.variable2 !== undefined;
    switch (range.kind) {
      case 'list':
        return hasTwo ? [INT, range.parameters[0]!] : [range.parameters[0]!, DYN];
      case 'map':
        return [range.parameters[0]!, range.parameters[1]!];
      case 'dyn':
      case 'error':
      case 'param':
        this.#substitutions.assign(DYN, range);
        return [DYN, DYN];
      default:
        this.#report(expr.range.offset, `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`);
        return [ERROR, ERROR];
    }
  }
}
