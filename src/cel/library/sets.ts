import { fn, overload, type Library } from '../declarations.ts';
import { BOOL, listType, paramType } from '../types.ts';
import type { CelList } from '../values.ts';
import { contains } from './standard.ts';

/** Lists as sets (cel-go ext/sets.go). */
const LIST = listType(paramType('T'));

function containsAll(list: CelList, part: CelList): boolean {
  for (let index = 0; index < part.size; index++) if (!contains(list, part.get(index))) return false;
  return true;
}

function intersects(a: CelList, b: CelList): boolean {
  for (let index = 0; index < a.size; index++) if (contains(b, a.get(index))) return true;
  return false;
}

export const SETS_LIBRARY: Library = {
  functions: [
    fn('sets.contains', overload('list_sets_contains_list', [LIST, LIST], BOOL, containsAll)),
    fn(
      'sets.equivalent',
      overload('list_sets_equivalent_list', [LIST, LIST], BOOL, (a: CelList, b: CelList) => containsAll(a, b) && containsAll(b, a)),
    ),
    fn('sets.intersects', overload('list_sets_intersects_list', [LIST, LIST], BOOL, intersects)),
  ],
};
