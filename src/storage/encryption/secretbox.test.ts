import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { secretboxTransformer } from './secretbox.ts';
import type { Opened } from './transformer.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

/* From "Cryptography in NaCl" (D. J. Bernstein), sections 8 to 10. */
const FIRST_KEY = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
const NONCE = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
const MESSAGE = hex(`be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffc e5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb31
  0e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde 048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f93776384864 5e0705`);
const BOX = hex(`f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce 48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c972
  71d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae 90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b3 7973f622a43d14a6599b1f654cb45a74e355a5`);

const STORED = Buffer.concat([NONCE, BOX]);
const CONTEXT = { key: '/registry/secrets/default/token', resource: 'secrets' };

const seal = (key: Buffer, data: Buffer): Buffer => secretboxTransformer(key).toStorage(data, CONTEXT);
const open = (key: Buffer, stored: Buffer): Buffer => (secretboxTransformer(key).fromStorage(stored, CONTEXT) as Opened).value;

test("NaCl's own example opens", () => {
  expect(open(FIRST_KEY, STORED).toString('hex')).toBe(MESSAGE.toString('hex'));
});

test('a value of which any byte was changed is refused', () => {
  for (const at of [0, 23, 24, 39, 40, STORED.length - 1]) {
    const changed = Buffer.from(STORED);
    changed[at]! ^= 1;
    expect(() => open(FIRST_KEY, changed)).toThrow('output array was not large enough for encryption');
  }
});

test('what was sealed opens, whatever its length and wherever its bytes lie in memory', () => {
  for (const length of [0, 1, 15, 16, 31, 32, 33, 63, 64, 65, 1000])
    for (const offset of [0, 1, 2, 3]) {
      const [key, data] = [randomBytes(32 + offset).subarray(offset), randomBytes(length + offset).subarray(offset)];
      const stored = Buffer.concat([Buffer.alloc(offset), seal(key, data)]).subarray(offset);
      expect(stored).toHaveLength(24 + 16 + length);
      expect(open(key, stored)).toEqual(data);
    }
});
