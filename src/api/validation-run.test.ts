import { describe, expect, test } from 'vitest';
import { FieldErrors } from './field-errors.ts';
import { checkEach, counted, once, validateInSlices } from './validation-run.ts';

const spin = (durationMs: number): void => {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
};

/** What a validation finds, and how often it was begun. */
async function findings(validate: (errors: FieldErrors) => void): Promise<{ found: string[]; runs: number }> {
  let runs = 0;
  const found = await validateInSlices((beginPass) => {
    runs++;
    const errors = new FieldErrors();
    beginPass(errors);
    validate(errors);
    return errors.list.map(({ field }) => field);
  });
  return { found, runs };
}

describe('a validation in slices', () => {
  test('is synchronous where it is short', () => {
    const found = validateInSlices((beginPass) => {
      const errors = new FieldErrors();
      beginPass(errors);
      once(errors, 'x', () => 1);
      return errors.list;
    });
    expect(found).toEqual([]);
  });

  test('is run again until all is done, and does nothing twice', async () => {
    const done: number[] = [];
    const { found, runs } = await findings((errors) => {
      for (let index = 0; index < 5; index++) {
        const isWrong = once(errors.index(index), 'slow', () => {
          spin(11);
          done.push(index);
          return index % 2 === 1;
        });
        if (isWrong) errors.index(index).required();
      }
    });
    expect(done).toEqual([0, 1, 2, 3, 4]);
    expect(found).toEqual(['[1]', '[3]']);
    expect(runs).toBe(5);
  });

  test('work whose result is kept elsewhere is counted', async () => {
    const kept = new Map<number, number>();
    const { runs } = await findings((errors) => {
      for (let index = 0; index < 3; index++) {
        if (!kept.has(index))
          kept.set(
            index,
            counted(errors, () => (spin(11), index)),
          );
      }
    });
    expect([kept.size, runs]).toEqual([3, 3]);
  });

  test('every pass over the object has results of its own', async () => {
    const values = await validateInSlices((beginPass) =>
      ['a', 'b'].map((value) => {
        const errors = new FieldErrors();
        beginPass(errors);
        return once(errors, 'value', () => (spin(11), value));
      }),
    );
    expect(values).toEqual(['a', 'b']);
  });
});

describe('items of a long list', () => {
  const items = Array.from({ length: 2_000 }, (_, index) => (index === 1_999 ? 0 : index));

  test('are each checked once, with what is known of those before', async () => {
    let checks = 0;
    const { found, runs } = await findings((errors) => {
      const state = checkEach(
        errors,
        'items',
        items,
        (item, index, seen) => {
          checks++;
          if (index % 250 === 0) spin(11);
          if (seen.has(item) || index === 3) errors.index(index).duplicate(item);
          seen.add(item);
        },
        () => new Set<number>(),
      );
      if (state.size !== 1_999) errors.at('state').required();
    });
    expect(found).toEqual(['[3]', '[1999]']);
    expect(checks).toBe(2_000);
    expect(runs).toBeGreaterThanOrEqual(8);
  });

  test('a pause inside of an item leaves the state of the items as it was', async () => {
    const { found } = await findings((errors) => {
      checkEach(
        errors,
        'outer',
        items.slice(0, 600),
        (item, index, seen) => {
          if (seen.has(item)) errors.index(index).duplicate(item);
          seen.add(item);
          if (index % 100 === 0) checkEach(errors.index(index), 'inner', items, (_, inner) => void (inner === 0 && spin(11)));
        },
        () => new Set<number>(),
      );
    });
    expect(found).toEqual([]);
  });

  test('are checked at once where nobody runs them in slices', () => {
    const errors = new FieldErrors();
    checkEach(errors, 'items', items, (item, index) => void (item === 0 && errors.index(index).required()));
    expect(errors.list.map(({ field }) => field)).toEqual(['[0]', '[1999]']);
  });
});
