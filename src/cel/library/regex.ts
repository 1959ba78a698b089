import { SearchTooLong } from '../../util/re2/search.ts';
import { compileRegexp, type Regexp } from '../../util/re2/regexp.ts';
import { member, type FunctionDeclaration, type Library } from '../declarations.ts';
import { INT, STRING, listType } from '../types.ts';
import { ArrayList, CelError, noSuchOverload, type CelInt, type CelValue } from '../values.ts';
import { constantPattern } from './standard.ts';

/** Patterns that answer with what they matched (apiserver/pkg/cel/library/regex.go). */
const TEXTS = listType(STRING);

function guarded(search: () => CelValue): CelValue {
  try {
    return search();
  } catch (error) {
    if (error instanceof SearchTooLong) return new CelError(error.message);
    throw error;
  }
}

const find = (regexp: Regexp, text: string): CelValue => guarded(() => regexp.find(text) ?? '');
const findAll = (regexp: Regexp, text: string, limit: CelInt = -1): CelValue => guarded(() => new ArrayList(regexp.findAll(text, Number(limit))));

type Search = (regexp: Regexp, text: string, limit?: CelInt) => CelValue;

const withPattern =
  (search: Search) =>
  (text: string, pattern: string, limit?: CelInt): CelValue => {
    const regexp = compileRegexp(pattern);
    return 'error' in regexp ? new CelError(`Illegal regex: ${regexp.error}`) : search(regexp, text, limit);
  };

const searching = (name: string, search: Search, overloads: FunctionDeclaration['overloads']): FunctionDeclaration => ({
  name,
  overloads,
  specialize(constants) {
    const regexp = constantPattern(constants, 1);
    if (regexp === undefined || regexp instanceof CelError) return regexp;
    return (text, _pattern, limit) => (typeof text === 'string' ? search(regexp, text, limit as CelInt | undefined) : noSuchOverload());
  },
});

export const REGEX_LIBRARY: Library = {
  functions: [
    searching('find', find, [member('string_find_string', [STRING, STRING], STRING, withPattern(find))]),
    searching('findAll', findAll, [
      member('string_find_all_string', [STRING, STRING], TEXTS, withPattern(findAll)),
      member('string_find_all_string_int', [STRING, STRING, INT], TEXTS, withPattern(findAll)),
    ]),
  ],
};
