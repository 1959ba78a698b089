import { expect, test } from 'vitest';
import { CONTROLLER_NAMES, enabledControllers, unknownControllers } from './names.ts';

test('a list of controllers says which ones run', () => {
  expect(enabledControllers([])).toEqual([]);
  expect(enabledControllers(['*'])).toEqual([...CONTROLLER_NAMES]);
  expect(enabledControllers(['namespace-controller'])).toEqual(['namespace-controller']);
  expect(enabledControllers(['*', '-namespace-controller'])).toEqual(CONTROLLER_NAMES.filter((name) => name !== 'namespace-controller'));
  expect(enabledControllers(['-namespace-controller', '*', 'namespace-controller'])).not.toContain('namespace-controller');
  expect(unknownControllers(['*', '-namespace-controller', '-node-controller', 'namespace'])).toEqual(['-node-controller', 'namespace']);
});
