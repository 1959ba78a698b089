import type { Comprehension, Expr, MapEntry, Offset } from './ast.ts';
import type { CelValue } from './values.ts';

/** The variable that comprehensions gather their result in; no name in a text can hide it. */
export const ACCUMULATOR = '@result';
/** What the accumulator was called once; still refused as the name of a variable. */
const OLD_ACCUMULATOR = '__result__';
/** The variable of comprehensions that only bind a name. */
const UNUSED_VARIABLE = '#unused';

/** A call that is replaced by another expression while the text is parsed. */
export interface Macro {
  readonly name: string;
  /** Undefined for any number. */
  readonly argumentCount: number | undefined;
  readonly isReceiver: boolean;
  /** Undefined leaves the call as it is. Throws MacroError. */
  expand(call: MacroCall): Expr | undefined;
}

export interface MacroCall {
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
  readonly make: ExprBuilder;
}

/** Arguments that a macro cannot take. */
export class MacroError extends Error {
  readonly offset: Offset;

  constructor(offset: Offset, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Nodes that macros may still copy in one expression: copies of copies would grow without bound. */
export interface CopyBudget {
  left: number;
}

/** Makes expressions that all stand at the place of one call. */
export class ExprBuilder {
  readonly offset: Offset;
  readonly #budget: CopyBudget;

  constructor(offset: Offset, budget: CopyBudget) {
    this.offset = offset;
    this.#budget = budget;
  }

  /** The same expression in nodes of its own, for macros that use an argument twice. Throws MacroError where that gets too large. */
  copy(expr: Expr): Expr {
    if (--this.#budget.left < 0) throw new MacroError(this.offset, 'expression is too large');
    return withChildren(expr, (child) => this.copy(child));
  }

  literal(value: CelValue): Expr {
    return { kind: 'literal', offset: this.offset, value };
  }

  ident(name: string): Expr {
    return { kind: 'ident', offset: this.offset, name };
  }

  accumulator(): Expr {
    return this.ident(ACCUMULATOR);
  }

  call(name: string, ...args: Expr[]): Expr {
    return { kind: 'call', offset: this.offset, name, target: undefined, args };
  }

  memberCall(name: string, target: Expr, ...args: Expr[]): Expr {
    return { kind: 'call', offset: this.offset, name, target, args };
  }

  list(...elements: Expr[]): Expr {
    return { kind: 'list', offset: this.offset, elements, optionalIndexes: new Set() };
  }

  map(...entries: MapEntry[]): Expr {
    return { kind: 'map', offset: this.offset, entries };
  }

  fold(parts: Pick<Comprehension, 'range' | 'variable' | 'init' | 'condition' | 'step'> & { variable2?: string; result?: Expr }): Expr {
    const { variable2, result = this.accumulator(), ...rest } = parts;
    return { kind: 'comprehension', offset: this.offset, accumulator: ACCUMULATOR, variable2, result, ...rest };
  }

  /** `result` with `name` standing for `init`: a fold over nothing. */
  bind(name: string, init: Expr, result: Expr): Expr {
    const range = this.list();
    const condition = this.literal(false);
    const step = this.ident(name);
    return {
      kind: 'comprehension',
      offset: this.offset,
      range,
      variable: UNUSED_VARIABLE,
      variable2: undefined,
      accumulator: name,
      init,
      condition,
      step,
      result,
    };
  }
}

/** A new node of the same kind, of other children. */
function withChildren(expr: Expr, change: (child: Expr) => Expr): Expr {
  switch (expr.kind) {
    case 'select':
      return { ...expr, operand: change(expr.operand) };
    case 'call':
      return { ...expr, target: expr.target && change(expr.target), args: expr.args.map(change) };
    case 'list':
      return { ...expr, elements: expr.elements.map(change) };
    case 'map':
      return { ...expr, entries: expr.entries.map(({ offset, key, value, isOptional }) => ({ offset, key: change(key), value: change(value), isOptional })) };
    case 'struct':
      return { ...expr, fields: expr.fields.map(({ offset, name, value, isOptional }) => ({ offset, name, value: change(value), isOptional })) };
    case 'comprehension': {
      const { range, init, condition, step, result } = expr;
      return { ...expr, range: change(range), init: change(init), condition: change(condition), step: change(step), result: change(result) };
    }
    default:
      return { ...expr };
  }
}

/** The name of a variable that a macro declares. `complaint` is for arguments that are no name. Throws MacroError. */
export function variableName(arg: Expr, complaint: string): string {
  if (arg.kind !== 'ident') throw new MacroError(arg.offset, complaint);
  if (arg.name === ACCUMULATOR || arg.name === OLD_ACCUMULATOR) throw new MacroError(arg.offset, 'iteration variable overwrites accumulator variable');
  return arg.name;
}
