import type { ApiObject } from '../api/objects.ts';
import type { LineOwner } from '../editor/owner-gutter.ts';
import { linePaths } from './object-text.ts';
import { ownersAt, ownersOf } from './ownership.ts';

const COLORS = 4;

/** Who owns which line of an object's text; the colours are those of the list beside it. */
export function lineOwnersOf(object: ApiObject, text: string): (LineOwner | undefined)[] {
  const owners = ownersOf(object);
  return linePaths(text).map((path) => {
    const found = path === undefined ? [] : ownersAt(object, owners, path);
    if (found.length === 0) return undefined;
    return {
      name: found.map(({ manager }) => manager).join(', '),
      title: found
        .map(({ manager, operation, subresource, time }) => `${manager}: ${operation}${subresource === '' ? '' : ` of ${subresource}`}, ${time}`)
        .join('\n'),
      color: owners.indexOf(found[0]!) % COLORS,
    };
  });
}
