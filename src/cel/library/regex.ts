import type { StepBudget } from '../../util/step-budget.ts';
import { compileRegexp, type Regexp } from '../../re2/regexp.ts';
import { member, type FunctionDeclaration, type Library } from '../declarations.ts';
import { isInt } from '../numbers.ts';
import { unknownOverload } from '../plan-call.ts';
import { INT, STRING, listType } from '../types.ts';
import { ArrayList, CelError, noSuchOverload, type CelInt, type CelValue } from '../values.ts';
import { constantPattern } from './standard.ts';

/** Patterns that answer with what they matched (apiserver/pkg/cel/library/regex.go). */
const TEXTS = listType(STRING);

type Find = (regexp: Regexp, budget: StepBudget, text: string, limit?: CelInt) => CelValue;

const find: Find = (regexp, budget, text) => regexp.find(text, budget) ?? '';
const findAll: Find = (regexp, budget, text, limit = -1) => new ArrayList(regexp.findAll(text, Number(limit), budget));

const searching = (name: string, run: Find, overloads: FunctionDeclaration['overloads']): FunctionDeclaration => ({
  name,
  overloads,
  search: {
    // A search looks at each character anew, in all the places where the program may be.
    stepsPerCharacter: { text: 16, pattern: 30 },
    call(budget, ...args) {
      const [text, pattern, limit] = args;
      if (typeof text !== 'string' || typeof pattern !== 'string' || (limit !== undefined && !isInt(limit))) return unknownOverload(name, args);
      const regexp = compileRegexp(pattern);
      return 'error' in regexp ? new CelError(`Illegal regex: ${regexp.error}`) : run(regexp, budget, text, limit);
    },
    specialize(constants) {
      const regexp = constantPattern(constants, 1);
      if (regexp === undefined || regexp instanceof CelError) return regexp;
      return (budget, text, _pattern, limit) => (typeof text === 'string' ? run(regexp, budget, text, limit as CelInt | undefined) : noSuchOverload());
    },
  },
});

export const REGEX_LIBRARY: Library = {
  functions: [
    searching('find', find, [member('string_find_string', [STRING, STRING], STRING)]),
    searching('findAll', findAll, [
      member('string_find_all_string', [STRING, STRING], TEXTS),
      member('string_find_all_string_int', [STRING, STRING, INT], TEXTS),
    ]),
  ],
};
