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

/** Binary operators by how they are written. */
export const RELATIONS: Readonly<Record<string, string>> = {
  "'<'": '_<_',
  "'<='": '_<=_',
  "'>='": '_>=_',
  "'>'": '_>_',
  "'=='": EQUALS,
  "'!='": NOT_EQUALS,
  "'in'": IN,
};
export const SUMS: Readonly<Record<string, string>> = { "'+'": ADD, "'-'": '_-_' };
export const PRODUCTS: Readonly<Record<string, string>> = { "'*'": '_*_', "'/'": '_/_', "'%'": '_%_' };
