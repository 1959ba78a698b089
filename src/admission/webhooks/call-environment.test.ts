import { expect, test } from 'vitest';
import type { Credentials } from '../../client/kubeconfig.ts';
import { credentialsFor } from './call-environment.ts';

const user = (name: string): Credentials => ({ authorization: async () => name });
const usersOf = (current: string, ...names: string[]) => {
  const byName = new Map(names.map((name) => [name, user(name)]));
  return { byName, current: byName.get(current) };
};
const calledAs = async (users: ReturnType<typeof usersOf>, host: string): Promise<string | undefined> => credentialsFor(users, host).authorization?.();

test.each<[string, string | undefined, string[]]>([
  ['hook.web.svc:443', 'hook.web.svc', ['*', '*.web.svc', 'hook.web.svc']],
  ['hook.web.svc:443', 'hook.web.svc:443', ['hook.web.svc', 'hook.web.svc:443', '*.svc:443']],
  ['hook.web.svc:443', '*.svc:443', ['hook.web.svc', '*.svc:443', '*.svc']],
  ['hook.web.svc:443', '*.web.svc', ['*.svc', '*.web.svc', '*']],
  ['hook.web.svc:8443', '*', ['hook.web.svc', '*.web.svc', '*']],
  ['hook.web.svc:8443', 'hook.web.svc:8443', ['hook.web.svc', 'hook.web.svc:8443']],
  ['127.0.0.1:9443', '*.0.0.1:9443', ['*.0.0.1:9443', '*']],
  ['[::1]:443', '::1', ['::1']],
  ['localhost:1', undefined, ['localhost', '*.localhost']],
])('%s is called as %s', async (host, name, names) => {
  expect(await calledAs(usersOf('', ...names), host)).toBe(name);
});

test('the current user counts where no name fits, and any that fits counts before it', async () => {
  expect(await calledAs(usersOf('me', 'me', 'other'), 'x.y:1')).toBe('me');
  expect(await calledAs(usersOf('me', 'me', '*'), 'x.y:1')).toBe('*');
});
