import { expect, test } from 'vitest';
import { parseGoUrl } from './go-url.ts';

test.each([
  ['https://u:p@host:8443/a%20b?q=1#f', { scheme: 'https', user: 'u:p', host: 'host:8443', path: '/a b', query: 'q=1', fragment: 'f' }],
  ['HTTPS://[::1]:443', { scheme: 'https', host: '[::1]:443', path: '' }],
  ['host/path', { scheme: '', host: '', path: 'host/path' }],
  ['mailto:x', { scheme: 'mailto', host: '', path: '' }],
  ['', { scheme: '', host: '', path: '' }],
])('%s', (text, parts) => {
  expect(parseGoUrl(text)).toMatchObject(parts);
});

test.each([
  [':x', 'parse ":x": missing protocol scheme'],
  ['1:x', 'parse "1:x": first path segment in URL cannot contain colon'],
  ['https://a b/', 'parse "https://a b/": invalid character " " in host name'],
  ['https://[::1', 'parse "https://[::1": missing \']\' in host'],
  ['https://h:port', 'parse "https://h:port": invalid port ":port" after host'],
  ['https://h/%zz', 'parse "https://h/%zz": invalid URL escape "%zz"'],
  ['https://h/\n', 'parse "https://h/\\n": net/url: invalid control character in URL'],
  ['https://h/#%z', 'parse "https://h/#%z": invalid URL escape "%z"'],
])('%s is refused', (text, error) => {
  expect(parseGoUrl(text)).toEqual({ error });
});
