import { expect, test } from 'vitest';
import { newUuid } from './uuid.ts';

test('are of version 4, and no two the same', () => {
  const ids = Array.from({ length: 5000 }, newUuid);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
  for (let place = 0; place < 36; place++) {
    const digits = new Set(ids.map((id) => id[place]));
    expect(digits.size).toBe([8, 13, 14, 18, 23].includes(place) ? 1 : place === 19 ? 4 : 16);
  }
});
