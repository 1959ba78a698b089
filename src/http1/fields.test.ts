import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { fieldName, readFields } from './fields.ts';

const MIB = 1024 * 1024;

test('names are known in lower case, however long; what is none is not', () => {
  expect([fieldName('Content-Type'), fieldName('X'.repeat(100)), fieldName('a b'), fieldName('')]).toEqual([
    'content-type',
    'x'.repeat(100),
    undefined,
    undefined,
  ]);
});

test('a name that is remembered does not keep the head that it came with', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const beforeBytes = process.memoryUsage().heapUsed;
  for (let index = 0; index < 400; index++) {
    const head = Buffer.from(`X-Some-Rather-Long-Name-${index}: a\r\nx: ${'x'.repeat(MIB / 4)}`).toString('latin1');
    expect(readFields(head, 0).length).toBe(4);
  }
  collect();
  expect(process.memoryUsage().heapUsed - beforeBytes).toBeLessThan(20 * MIB);
});
