import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { pointProblem } from './curves.ts';

test.each([
  [224, 'secp224r1'],
  [256, 'P-256'],
  [384, 'P-384'],
  [521, 'P-521'],
])('a point of P-%i', (bits, namedCurve) => {
  const point = generateKeyPairSync('ec', { namedCurve })
    .publicKey.export({ type: 'spki', format: 'der' })
    .subarray(-2 * Math.ceil(bits / 8));
  expect(pointProblem(bits, point)).toBeUndefined();
  expect(pointProblem(bits, point.subarray(1))).toBe(`invalid P${bits} point encoding`);
  const moved = Buffer.from(point);
  moved[moved.length - 1]! ^= 1;
  expect(pointProblem(bits, moved)).toBe(`P${bits} point not on curve`);
  expect(pointProblem(bits, Buffer.alloc(point.length, 0xff))).toMatch(/^invalid P/);
});
