import { describe, expect, test } from 'vitest';
import { apiVersionOf, parseApiVersion } from './api-object.ts';

describe('an apiVersion', () => {
  test.each([
    ['v1', { group: '', version: 'v1' }],
    ['apps/v1', { group: 'apps', version: 'v1' }],
    ['', { group: '', version: '' }],
    ['/', { group: '', version: '' }],
    ['apps/', { group: 'apps', version: '' }],
    ['/v1', { group: '', version: 'v1' }],
    ['a/b/c', undefined],
    ['a//', undefined],
    ['//', undefined],
  ])('%j', (text, parsed) => {
    expect(parseApiVersion(text)).toEqual(parsed);
  });

  test.each(['v1', 'apps/v1'])('%j comes back', (text) => {
    const { group, version } = parseApiVersion(text)!;
    expect(apiVersionOf(group, version)).toBe(text);
  });
});
