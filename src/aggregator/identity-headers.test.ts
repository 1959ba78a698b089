import { expect, test } from 'vitest';
import { identityHeaders } from './identity-headers.ts';

test('all that is known of a user', () => {
  const user = { name: 'jürgen', uid: 'u', groups: ['a', 'b'], extra: { 'acme.com/Scope%': ['x', 'y'], Z: ['1'], z: ['2'], __proto__x: [] } };
  expect(identityHeaders(user, true)).toEqual({
    'x-remote-user': 'jÃ¼rgen',
    'x-remote-uid': 'u',
    'x-remote-group': ['a', 'b'],
    'x-remote-extra-acme.com%2FScope%25': ['x', 'y'],
    'x-remote-extra-Z': ['1'],
    'x-remote-extra-z': ['2'],
    'x-remote-extra-__proto__x': [],
  });
  expect(identityHeaders({ name: 'a', uid: 'u', groups: [] }, false)).toEqual({ 'x-remote-user': 'a' });
});

test.each(['a\nX-Remote-Group: system:masters', 'a\r', 'a\0', ' admin', 'admin\t'])(
  'a name that would be another’s on the other side is not sent: %j',
  (name) => {
    expect(() => identityHeaders({ name, groups: [] }, true)).toThrow('invalid header field value for "X-Remote-User"');
    expect(() => identityHeaders({ name: 'a', groups: [name] }, true)).toThrow('X-Remote-Group');
  },
);
