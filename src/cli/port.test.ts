import { expect, test } from 'vitest';
import { Port } from './port.ts';

test('has its value once it is provided, which happens once', () => {
  const port = new Port<number>('port');
  expect(() => port.value).toThrow('the port is not provided yet');
  port.provide(0);
  expect(port.value).toBe(0);
  expect(() => port.provide(1)).toThrow('the port is provided already');
});
