import { expect, test } from 'vitest';
import { FieldErrors } from '../../api/field-errors.ts';
import { questionOf, validateAttributeSelectors } from './attributes.ts';

const user = { name: 'alice', groups: [] };

test.each([
  [
    {
      fieldSelector: {
        requirements: [
          { key: 'a', operator: 'In', values: ['1'] },
          { key: 'b', operator: 'Exists' },
        ],
      },
    },
    ['spec.resourceAttributes.fieldSelector partially ignored due to parse error'],
  ],
  [{ fieldSelector: { requirements: [{ key: 'b', operator: 'Near', values: ['1'] }] } }, ['spec.resourceAttributes.fieldSelector ignored due to parse error']],
  [{ labelSelector: { rawSelector: 'a in (' } }, ['spec.resourceAttributes.labelSelector ignored due to parse error']],
  [{ labelSelector: { rawSelector: 'a=b' } }, []],
])('%j: what is not understood is left out', (attributes, problems) => {
  expect(questionOf(user, { resourceAttributes: attributes }).problems).toEqual(problems);
});

test('selectors are one of two, and sound', () => {
  const errors = new FieldErrors('spec.resourceAttributes');
  validateAttributeSelectors(
    { fieldSelector: { requirements: [{ key: '', operator: 'In' }] }, labelSelector: { rawSelector: 'a', requirements: [{ key: 'k', operator: 'Near' }] } },
    errors,
  );
  expect(errors.list.map(({ field, body }) => `${field}: ${body}`)).toEqual([
    'spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified',
    "spec.resourceAttributes.fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    'spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "a": may not specified at the same time as requirements',
  ]);
});
