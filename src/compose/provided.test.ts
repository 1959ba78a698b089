import { expect, test } from 'vitest';
import { Provided } from './provided.ts';

test('has its value once it is provided, which happens once', () => {
  const securePort = new Provided<number>('port');
  expect(() => securePort.value).toThrow('the port is not provided yet');
  securePort.provide(0);
  expect(securePort.value).toBe(0);
  expect(() => securePort.provide(1)).toThrow('the port is provided already');
});
