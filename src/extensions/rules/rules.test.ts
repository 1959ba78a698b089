import { describe, expect, test } from 'vitest';
import { testWrite } from '../../apis/testing/kind-tester.ts';
import type { CustomResourceDefinition } from '../../apis/facts/types/apiextensions-v1.ts';
import type { JsonSchema, ValidationRule } from '../../schema/structural/json-schema.ts';
import { Structure } from '../../schema/structural/structure.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { definitionsWithRules } from './definition-rules.ts';
import { RecentRules } from './recent-rules.ts';
import { compileRuleTree } from './rule-tree.ts';

const TEXT: JsonSchema = { type: 'string', maxLength: 20 };

function schemaWith(rules: ValidationRule[], properties: Record<string, JsonSchema> = { name: TEXT, size: { type: 'integer' } }): JsonSchema {
  return { type: 'object', properties: { spec: { type: 'object', properties, 'x-kubernetes-validations': rules } } };
}

function evaluate(schema: JsonSchema, object: JsonObject, old?: JsonObject, warnings: string[] = []): string[] {
  const errors = new FieldErrors();
  compileRuleTree(new Structure(schema))!.validate(object, old, errors, (text) => warnings.push(text));
  return errors.list.map(({ field, body }) => `${field}: ${body}`);
}

test('a broken rule is told where it says, in its words and for its reason', () => {
  const schema = schemaWith([
    { rule: 'self.size > 3' },
    { rule: 'self.size > 4', message: ' too small ', reason: 'FieldValueForbidden', fieldPath: '.size' },
    { rule: 'self.size > 5', message: 'm', messageExpression: "'not ' + self.name", reason: 'FieldValueRequired' },
  ]);
  expect(evaluate(schema, { spec: { size: 3, name: 'enough' } })).toEqual([
    'spec: Invalid value: failed rule: self.size > 3',
    'spec.size: Forbidden: too small',
    'spec: Required value: not enough',
  ]);
  expect(evaluate(schema, { spec: { size: 6, name: '' } })).toEqual([]);
});

test('rules of change wait for something that was there', () => {
  const rules = [
    { rule: 'self.size >= oldSelf.size', message: 'shrinks' },
    { rule: 'oldSelf.hasValue() || self.size == 0', message: 'starts at 0', optionalOldSelf: true },
  ];
  expect(evaluate(schemaWith(rules), { spec: { size: 1 } })).toEqual(['spec: Invalid value: starts at 0']);
  expect(evaluate(schemaWith(rules), { spec: { size: 1 } }, { spec: { size: 2 } })).toEqual(['spec: Invalid value: shrinks']);
});

test('what is unchanged may break rules that do not look back, with a warning', () => {
  const schema = schemaWith([{ rule: 'self.size > 3' }]);
  const warnings: string[] = [];
  expect(evaluate(schema, { spec: { size: 1 }, other: 1 }, { spec: { size: 1 } }, warnings)).toEqual([]);
  expect(warnings).toEqual(['spec: Invalid value: failed rule: self.size > 3']);
  expect(evaluate(schema, { spec: { size: 2 } }, { spec: { size: 1 } })).toHaveLength(1);
});

test('items with keys are compared with what they were', () => {
  const items: JsonSchema = {
    type: 'object',
    properties: { id: TEXT, n: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule: 'self.n >= oldSelf.n', message: 'shrinks' }],
  };
  const list: JsonSchema = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'], items };
  const schema: JsonSchema = { type: 'object', properties: { list } };
  const old = {
    list: [
      { id: 'a', n: 5 },
      { id: 'b', n: 5 },
    ],
  };
  expect(
    evaluate(
      schema,
      {
        list: [
          { id: 'b', n: 6 },
          { id: 'c', n: 0 },
          { id: 'a', n: 4 },
        ],
      },
      old,
    ),
  ).toEqual(['list[2]: Invalid value: shrinks']);
});

test('an evaluation that costs too much is cut off', () => {
  const list: JsonSchema = { type: 'array', items: { type: 'string' } };
  const schema = schemaWith([{ rule: 'self.list.all(a, self.list.all(b, a != b + "x"))' }, { rule: 'false' }], { list });
  const errors = evaluate(schema, { spec: { list: Array.from({ length: 2_000 }, (_, index) => `text ${index}`) } });
  expect(errors).toEqual([expect.stringContaining('no further validation rules will be run due to call cost exceeds limit for rule')]);
});

test('the root has a name and a kind', () => {
  const schema: JsonSchema = {
    type: 'object',
    'x-kubernetes-validations': [{ rule: "self.metadata.name.startsWith('a') && self.kind == 'T'", message: 'name' }],
  };
  expect(evaluate(schema, { kind: 'T', metadata: { name: 'ab' } })).toEqual([]);
  expect(evaluate(schema, { kind: 'T', metadata: { name: 'b' } })).toEqual(['<nil>: Invalid value: name']);
});

function define(schema: JsonSchema, recent?: RecentRules): string[] {
  const definition = {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing', singular: 'thing', listKind: 'ThingList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      conversion: { strategy: 'None' },
    },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  } as unknown as CustomResourceDefinition;
  const errors = new FieldErrors();
  definitionsWithRules(recent).validate!(testWrite(definition), errors);
  return errors.list.map(({ field, body }) => `${field}: ${body}`);
}

const AT = 'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]';

test('a definition is told what is wrong with its rules', () => {
  expect(define(schemaWith([{ rule: 'self.size > 1' }]))).toEqual([]);
  expect(define(schemaWith([{ rule: 'self.size' }]))[0]).toContain(`${AT}.rule: Invalid value: {"Rule":"self.size",`);
  expect(define(schemaWith([{ rule: 'self.none == 1' }]))[0]).toContain("undefined field 'none'");
  expect(define(schemaWith([{ rule: 'true', optionalOldSelf: true }]))).toEqual([
    `${AT}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
  ]);
});

test('rules are compiled beside what is wrong elsewhere, but not at or above it', () => {
  const inner: JsonSchema = { type: 'object', properties: { a: TEXT }, 'x-kubernetes-validations': [{ rule: 'self.none' }] };
  const above = schemaWith([{ rule: 'self.none', fieldPath: '.none' }], { inner });
  expect(define(above).map((text) => text.slice(0, text.indexOf(': ')))).toEqual([
    `${AT}.fieldPath`,
    'spec.validation.openAPIV3Schema.properties[spec].properties[inner].x-kubernetes-validations[0].rule',
  ]);
  const below = schemaWith([{ rule: 'self.none' }], { inner: { ...inner, 'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.none' }] } });
  expect(define(below)).toEqual([
    expect.stringContaining('properties[inner].x-kubernetes-validations[0].fieldPath: Invalid value: ".none": must be a valid path'),
  ]);
});

test('defaults keep the rules, as what was there and as what is new', () => {
  const rules = (...all: ValidationRule[]): JsonSchema => ({ type: 'boolean', default: true, 'x-kubernetes-validations': all });
  const at = 'spec.validation.openAPIV3Schema.properties[spec].properties[flag].default';
  expect(define(schemaWith([], { flag: rules({ rule: 'self' }, { rule: 'self == oldSelf' }) }))).toEqual([]);
  expect(define(schemaWith([{ rule: 'self.none' }], { flag: rules({ rule: '!self' }) }))).toEqual([`${at}: Invalid value: true: failed rule: !self`]);
  expect(define(schemaWith([], { flag: rules({ rule: 'oldSelf.hasValue()', optionalOldSelf: true }) }))).toEqual([
    `${at}: Invalid value: true: failed rule: oldSelf.hasValue()`,
  ]);
});

test('a duplicate is shown where it is short', () => {
  const rule = { rule: 'false', reason: 'FieldValueDuplicate' } as const;
  expect(evaluate(schemaWith([rule]), { spec: { size: 1 } })).toEqual(['spec: Duplicate value']);
  expect(evaluate(schemaWith([], { name: { ...TEXT, 'x-kubernetes-validations': [rule] } }), { spec: { name: 'a' } })).toEqual([
    'spec.name: Duplicate value: "a"',
  ]);
});

test('rules that may cost too much are refused', () => {
  const list: JsonSchema = { type: 'array', items: { type: 'string' } };
  const found = define(schemaWith([{ rule: 'self.list.all(a, self.list.all(b, a == b))' }], { list }));
  expect(
    found.map((error) =>
      error
        .split(': ')
        .slice(0, 3)
        .join(': ')
        .replace(/ by factor.*/, ''),
    ),
  ).toEqual([
    `${AT}.rule: Forbidden: estimated rule cost exceeds budget`,
    `${AT}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
    'spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget',
  ]);
});

describe('rules that were just compiled', () => {
  const schema = schemaWith([{ rule: "self.name != 'b'", message: 'not b' }]).properties!['spec']!;
  const rule = { rule: schema['x-kubernetes-validations']![0]!, usesOldSelf: false, maxCost: 1, maxCardinality: 1, messageMaxCost: 0, fieldPath: '' };

  test('are found by the text of their schema, once', () => {
    const recent = new RecentRules();
    recent.keep(schema, false, [rule]);
    const readBack = JSON.parse(JSON.stringify(schema)) as JsonSchema;
    expect(recent.take(readBack, true)).toBeUndefined();
    expect(recent.take({ ...readBack, allOf: [{ required: ['name'] }] }, false)).toBeUndefined();
    expect(recent.take(readBack, false)).toEqual([rule]);
    expect(recent.take(readBack, false)).toBeUndefined();
  });

  test('are forgotten in the order in which they came when there are many', () => {
    const recent = new RecentRules();
    const many = (i: number): JsonSchema => ({ ...schema, maxProperties: i });
    for (let i = 0; i < 30; i++)
      recent.keep(
        many(i),
        false,
        Array.from({ length: 10 }, () => rule),
      );
    expect(recent.take(many(9), false)).toBeUndefined();
    expect(recent.take(many(10), false)).toHaveLength(10);
  });

  test('apply to objects as rules that are compiled for them', () => {
    const recent = new RecentRules();
    const whole = schemaWith([{ rule: "self.name != 'b'", message: 'not b' }]);
    expect(define(whole, recent)).toEqual([]);
    const errors = new FieldErrors();
    compileRuleTree(new Structure(whole), recent)!.validate({ spec: { name: 'b' } }, undefined, errors, () => {});
    expect(errors.list.map(({ field }) => field)).toEqual(['spec']);
    expect(recent.take(whole.properties!['spec']!, false)).toBeUndefined();
  });
});
