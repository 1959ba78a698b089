import { expect, test } from 'vitest';
import { reencodedPath, sortedQuery } from './go-url.ts';

// As Go 1.26 gave them: url.ParseQuery(q).Encode(), and EscapedPath of the decoded path.
test.each([
  ['', ''],
  ['a=1', 'a=1'],
  ['b=2&a=1&b=1', 'a=1&b=2&b=1'],
  ['watch', 'watch='],
  ['&&a=1&', 'a=1'],
  ['a=1;b=2&c=3', 'c=3'],
  ['a=%zz&b=%41', 'b=A'],
  ['q=a+b%20c', 'q=a+b+c'],
  ['labelSelector=a%3Db,c%20in%20(d)', 'labelSelector=a%3Db%2Cc+in+%28d%29'],
  ['x=%ff%C3%A9', 'x=%FF%C3%A9'],
  ['x=a=b', 'x=a%3Db'],
  ['=v', '=v'],
])('the query %s is sent as %s', (query, sent) => {
  expect(sortedQuery(query)).toBe(sent);
});

test.each([
  ['/apis/g/v1', '/apis/g/v1'],
  ['/a%2Fb', '/a/b'],
  ['/a%20b%3Fc', '/a%20b%3Fc'],
  ["/a!'()*[b]", '/a%21%27%28%29%2A%5Bb%5D'],
  ['/a%40b%ff', '/a@b%FF'],
])('the path %s is sent as %s', (path, sent) => {
  expect(reencodedPath(path)).toBe(sent);
});
