import type { Expr } from './ast.ts';
import { MacroError, variableName, type ExprBuilder, type Macro, type MacroCall } from './macro.ts';
import { ADD, CONDITIONAL, EQUALS, LOGICAL_AND, LOGICAL_NOT, LOGICAL_OR, NOT_STRICTLY_FALSE } from './operators.ts';

const NOT_A_NAME = 'argument must be a simple name';
const NOT_AN_IDENTIFIER = 'argument is not an identifier';

/** The variables, and how a fold over them goes on: what the macros with one and with two variables share. */
type Fold = (make: ExprBuilder, range: Expr, variables: { variable: string; variable2?: string }, rest: readonly Expr[]) => Expr;

const all: Fold = (make, range, variables, [predicate]) =>
  make.fold({
    range,
    ...variables,
    init: make.literal(true),
    condition: make.call(NOT_STRICTLY_FALSE, make.accumulator()),
    step: make.call(LOGICAL_AND, make.accumulator(), predicate!),
  });

const exists: Fold = (make, range, variables, [predicate]) =>
  make.fold({
    range,
    ...variables,
    init: make.literal(false),
    condition: make.call(NOT_STRICTLY_FALSE, make.call(LOGICAL_NOT, make.accumulator())),
    step: make.call(LOGICAL_OR, make.accumulator(), predicate!),
  });

const existsOne: Fold = (make, range, variables, [predicate]) =>
  make.fold({
    range,
    ...variables,
    init: make.literal(0),
    condition: make.literal(true),
    step: make.call(CONDITIONAL, predicate!, make.call(ADD, make.accumulator(), make.literal(1)), make.accumulator()),
    result: make.call(EQUALS, make.accumulator(), make.literal(1)),
  });

/** `rest` is `[transform]` or `[filter, transform]`; `step` puts a transformed element to the accumulator. */
const gather =
  (init: (make: ExprBuilder) => Expr, step: (make: ExprBuilder, transform: Expr, variable: string) => Expr): Fold =>
  (make, range, variables, rest) => {
    const kept = step(make, rest.at(-1)!, variables.variable);
    return make.fold({
      range,
      ...variables,
      init: init(make),
      condition: make.literal(true),
      step: rest.length === 1 ? kept : make.call(CONDITIONAL, rest[0]!, kept, make.accumulator()),
    });
  };

const toList = gather(
  (make) => make.list(),
  (make, transform) => make.call(ADD, make.accumulator(), make.list(transform)),
);

/** Puts an entry, or a map of entries, into a map; one that is there already is an error. */
export const MAP_INSERT = 'cel.@mapInsert';

const toMap = gather(
  (make) => make.map(),
  (make, transform, variable) => make.call(MAP_INSERT, make.accumulator(), make.ident(variable), transform),
);

const toMapEntries = gather(
  (make) => make.map(),
  (make, transform) => make.call(MAP_INSERT, make.accumulator(), transform),
);

const oneVariable = (name: string, argumentCount: number, fold: Fold, complaint: string): Macro => ({
  name,
  argumentCount,
  isReceiver: true,
  expand: ({ make, target, args }) => fold(make, target!, { variable: variableName(args[0]!, complaint) }, args.slice(1)),
});

const has: Macro = {
  name: 'has',
  argumentCount: 1,
  isReceiver: false,
  expand({ args, make }: MacroCall): Expr {
    const arg = args[0]!;
    if (arg.kind !== 'select') throw new MacroError(arg.offset, 'invalid argument to has() macro');
    return { kind: 'select', offset: make.offset, operand: arg.operand, field: arg.field, isTest: true };
  },
};

const filter: Macro = {
  name: 'filter',
  argumentCount: 2,
  isReceiver: true,
  expand: ({ make, target, args }) => toList(make, target!, { variable: variableName(args[0]!, NOT_AN_IDENTIFIER) }, [args[1]!, args[0]!]),
};

export const STANDARD_MACROS: readonly Macro[] = [
  has,
  oneVariable('all', 2, all, NOT_A_NAME),
  oneVariable('exists', 2, exists, NOT_A_NAME),
  oneVariable('exists_one', 2, existsOne, NOT_A_NAME),
  oneVariable('existsOne', 2, existsOne, NOT_A_NAME),
  oneVariable('map', 2, toList, NOT_AN_IDENTIFIER),
  oneVariable('map', 3, toList, NOT_AN_IDENTIFIER),
  filter,
];

/** `keys.map(x, transform)` for macros that build on it. */
export const mapOver = ({ make, args }: MacroCall, range: Expr): Expr =>
  toList(make, range, { variable: variableName(args[0]!, NOT_AN_IDENTIFIER) }, args.slice(1));

const twoVariables = (name: string, argumentCount: number, fold: Fold): Macro => ({
  name,
  argumentCount,
  isReceiver: true,
  expand: ({ make, target, args }) => fold(make, target!, variablePair(args[0]!, args[1]!), args.slice(2)),
});

function variablePair(first: Expr, second: Expr): { variable: string; variable2: string } {
  for (const arg of [first, second]) if (arg.kind !== 'ident') throw new MacroError(arg.offset, NOT_A_NAME);
  if (first.kind === 'ident' && second.kind === 'ident' && first.name === second.name) {
    throw new MacroError(second.offset, `duplicate variable name: ${first.name}`);
  }
  return { variable: variableName(first, NOT_A_NAME), variable2: variableName(second, NOT_A_NAME) };
}

/** Comprehensions over indexes or keys together with their values (cel-go ext/comprehensions.go). */
export const TWO_VARIABLE_MACROS: readonly Macro[] = [
  twoVariables('all', 3, all),
  twoVariables('exists', 3, exists),
  twoVariables('existsOne', 3, existsOne),
  twoVariables('exists_one', 3, existsOne),
  twoVariables('transformList', 3, toList),
  twoVariables('transformList', 4, toList),
  twoVariables('transformMap', 3, toMap),
  twoVariables('transformMap', 4, toMap),
  twoVariables('transformMapEntry', 3, toMapEntries),
  twoVariables('transformMapEntry', 4, toMapEntries),
];
