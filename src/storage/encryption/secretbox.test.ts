import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { poly1305 } from './poly1305.ts';
import { hsalsa20, xsalsa20Stream } from './salsa20.ts';
import { openBox, sealBox } from './secretbox.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

/* From "Cryptography in NaCl" (D. J. Bernstein), sections 8 to 10. */
const FIRST_KEY = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
const NONCE = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
const MESSAGE = hex(`be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffc e5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb31
  0e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde 048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f93776384864 5e0705`);
const BOX = hex(`f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce 48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c972
  71d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae 90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b3 7973f622a43d14a6599b1f654cb45a74e355a5`);

describe('secretbox', () => {
  test("gives NaCl's own example", () => {
    expect(sealBox(FIRST_KEY, NONCE, MESSAGE).toString('hex')).toBe(BOX.toString('hex'));
    expect(openBox(FIRST_KEY, NONCE, BOX)?.toString('hex')).toBe(MESSAGE.toString('hex'));
  });

  test('derives the key of the stream as NaCl does', () => {
    expect(Buffer.from(hsalsa20(FIRST_KEY, NONCE.subarray(0, 16))).toString('hex')).toBe('dc908dda0b9344a953629b733820778880f3ceb421bb61b91cbd4c3e66256ce4');
  });

  test("streams as NaCl's example of four million bytes does", () => {
    const digest = createHash('sha256')
      .update(xsalsa20Stream(FIRST_KEY, NONCE, 4_194_304))
      .digest('hex');
    expect(digest).toBe('662b9d0e3463029156069b12f918691a98f7dfb2ca0393c96bbfc6b1fbd630a2');
  });

  test('refuses a box of which any byte was changed', () => {
    for (const at of [0, 15, 16, BOX.length - 1]) {
      const changed = Buffer.from(BOX);
      changed[at]! ^= 1;
      expect(openBox(FIRST_KEY, NONCE, changed)).toBeUndefined();
    }
  });

  test('opens what it sealed, of any length', () => {
    for (const length of [0, 1, 15, 16, 31, 32, 33, 63, 64, 65, 1000]) {
      const [key, nonce, data] = [randomBytes(32), randomBytes(24), randomBytes(length)];
      expect(openBox(key, nonce, sealBox(key, nonce, data))).toEqual(data);
    }
  });
});

describe('Poly1305', () => {
  /* RFC 8439, 2.5.2 and A.3. */
  test.each([
    [
      '85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b',
      Buffer.from('Cryptographic Forum Research Group').toString('hex'),
      'a8061dc1305136c6c22b8baf0c0127a9',
    ],
    ['00'.repeat(32), '00'.repeat(64), '00'.repeat(16)],
    ['02' + '00'.repeat(31), 'ff'.repeat(16), '03' + '00'.repeat(15)],
    ['02' + '00'.repeat(15) + 'ff'.repeat(16), '02' + '00'.repeat(15), '03' + '00'.repeat(15)],
    ['01' + '00'.repeat(31), 'ff'.repeat(16) + 'f0' + 'ff'.repeat(15) + '11' + '00'.repeat(15), '05' + '00'.repeat(15)],
    ['01' + '00'.repeat(31), 'ff'.repeat(16) + 'fb' + 'fe'.repeat(15) + '01'.repeat(16), '00'.repeat(16)],
    ['02' + '00'.repeat(31), 'fd' + 'ff'.repeat(15), 'fa' + 'ff'.repeat(15)],
    [
      '01000000000000000400000000000000' + '00'.repeat(16),
      'e33594d7505e43b900000000000000003394d7505e4379cd01000000000000000000000000000000000000000000000001000000000000000000000000000000',
      '14000000000000005500000000000000',
    ],
    [
      '01000000000000000400000000000000' + '00'.repeat(16),
      'e33594d7505e43b900000000000000003394d7505e4379cd010000000000000000000000000000000000000000000000',
      '13' + '00'.repeat(15),
    ],
  ])('of key %s', (key, message, tag) => expect(poly1305(hex(key), hex(message)).toString('hex')).toBe(tag));
});
