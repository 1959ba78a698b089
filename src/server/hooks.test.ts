import { expect, test } from 'vitest';
import type { HealthCheck } from './health.ts';
import { Hooks } from './hooks.ts';

function newHooks(disabled: string[] = []) {
  const checks: HealthCheck[] = [];
  const fatal: string[] = [];
  const hooks = new Hooks({
    addHealthCheck: (check) => checks.push(check),
    onFatal: (error) => fatal.push(error.message),
    disabledPostStartHooks: new Set(disabled),
  });
  return { hooks, checks, fatal };
}
const signal = new AbortController().signal;

test('a post-start hook’s check fails until it has finished', async () => {
  const { hooks, checks } = newHooks();
  let finish!: () => void;
  hooks.addPostStart({ name: 'rbac/bootstrap-roles', run: () => new Promise((resolve) => (finish = resolve)) });
  expect(checks.map(({ name }) => name)).toEqual(['poststarthook/rbac/bootstrap-roles']);
  const run = hooks.runPostStart(signal);
  expect(() => checks[0]!.check()).toThrow('not finished');
  finish();
  await run;
  expect(() => checks[0]!.check()).not.toThrow();
  expect(() => hooks.addPostStart({ name: 'late', run: () => {} })).toThrow('have already been called');
});

test('a failing post-start hook is fatal', async () => {
  const { hooks, fatal, checks } = newHooks();
  hooks.addPostStart({ name: 'x', run: () => Promise.reject(new Error('no store')) });
  await hooks.runPostStart(signal);
  expect(fatal).toEqual(['PostStartHook "x" failed: no store']);
  expect(() => checks[0]!.check()).toThrow('not finished');
});

test('names are taken once; disabled hooks are passed over', () => {
  const { hooks, checks } = newHooks(['off']);
  hooks.addPostStart({ name: 'off', run: () => {} });
  expect(checks).toEqual([]);
  hooks.addPostStart({ name: 'on', run: () => {} });
  expect(() => hooks.addPostStart({ name: 'on', run: () => {} })).toThrow('unable to add "on" because it was already registered');
  hooks.addPreShutdown({ name: 'p', run: () => {} });
  expect(() => hooks.addPreShutdown({ name: 'p', run: () => {} })).toThrow('already registered');
});

test('pre-shutdown hooks all run, whatever one of them throws', async () => {
  const { hooks } = newHooks();
  const ran: string[] = [];
  hooks.addPreShutdown({ name: 'a', run: () => Promise.reject(new Error('gone')) });
  hooks.addPreShutdown({ name: 'b', run: () => void ran.push('b') });
  await expect(hooks.runPreShutdown()).rejects.toThrow('PreShutdownHook "a" failed: gone');
  expect(ran).toEqual(['b']);
});
