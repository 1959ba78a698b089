/** Names that operators have as functions. */
export const CONDITIONAL = '_?_:_';
export const LOGICAL_AND = '_&&_';
export const LOGICAL_OR = '_||_';
export const LOGICAL_NOT = '!_';
export const NEGATE = '-_';
export const ADD = '_+_';
export const EQUALS = '_==_';
export const NOT_EQUALS = '_!=_';
export const IN = '@in';
export const INDEX = '_[_]';
export const OPTIONAL_INDEX = '_[?_]';
export const OPTIONAL_SELECT = '_?._';
/** True for everything but false: how `all` and `exists` go on over errors. */
export const NOT_STRICTLY_FALSE = '@not_strictly_false';

/** A binary operator that is neither `&&` nor `||`; those that bind closer have higher levels. */
export interface BinaryOperator {
  readonly name: string;
  readonly level: 1 | 2 | 3;
}

/** By how they are written. */
export const BINARY: ReadonlyMap<string, BinaryOperator> = new Map([
  ["'<'", { name: '_<_', level: 1 }],
  ["'<='", { name: '_<=_', level: 1 }],
  ["'>='", { name: '_>=_', level: 1 }],
  ["'>'", { name: '_>_', level: 1 }],
  ["'=='", { name: EQUALS, level: 1 }],
  ["'!='", { name: NOT_EQUALS, level: 1 }],
  ["'in'", { name: IN, level: 1 }],
  ["'+'", { name: ADD, level: 2 }],
  ["'-'", { name: '_-_', level: 2 }],
  ["'*'", { name: '_*_', level: 3 }],
  ["'/'", { name: '_/_', level: 3 }],
  ["'%'", { name: '_%_', level: 3 }],
]);
