import { expect, test } from 'vitest';
import { encodeDocumentV2 } from './gnostic-v2.ts';
import { encodeDocumentV3 } from './gnostic-v3.ts';
import { runAtOnce } from '../../util/time-slice.ts';

const field = (number: number, ...content: (string | Buffer)[]): Buffer => {
  const body = Buffer.concat(content.map((part) => Buffer.from(part)));
  const tag = number * 8 + 2;
  const head = tag < 128 ? [tag] : [(tag & 127) | 128, tag >> 7];
  return Buffer.concat([Buffer.from([...head, body.length]), body]);
};

test('v2: fields by number, named values, extensions as YAML', () => {
  const document = {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: '1.36' },
    paths: { '/a/': { get: { tags: ['t'], operationId: 'getA', 'x-kubernetes-action': 'get' }, parameters: [{ $ref: '#/parameters/p' }] } },
    definitions: { T: { type: 'object', properties: { flags: { type: 'array', items: { type: 'string' } } } } },
    security: [{ BearerToken: [] }],
  };
  const extension = field(13, field(1, 'x-kubernetes-action'), field(2, field(2, '"get"\n')));
  const path = field(2, field(1, '/a/'), field(2, field(2, field(1, 't'), field(5, 'getA'), extension), field(9, field(2, field(1, '#/parameters/p')))));
  const flags = field(2, field(22, field(1, 'array')), field(23, field(1, field(22, field(1, 'string')))));
  const definition = field(1, field(1, 'T'), field(2, field(22, field(1, 'object')), field(25, field(1, field(1, 'flags'), flags))));
  const expected = Buffer.concat([
    field(1, '2.0'),
    field(2, field(1, 'Kubernetes'), field(2, '1.36')),
    field(8, path),
    field(9, definition),
    field(12, field(1, field(1, 'BearerToken'), field(2))),
  ]);
  expect(runAtOnce(encodeDocumentV2(document)).toString('hex')).toBe(expected.toString('hex'));
});

test('v3: references apart from what they stand for, and defaults by their type', () => {
  const schemas = {
    A: { type: 'string', default: '' },
    B: { default: {}, allOf: [{ $ref: '#/components/schemas/A' }] },
  };
  const reference = field(26, field(2, field(1, '#/components/schemas/A')));
  const expected = Buffer.concat([
    field(1, '3.0.0'),
    field(
      5,
      field(
        1,
        field(1, field(1, 'A'), field(2, field(1, field(25, 'string'), field(33, field(3, ''))))),
        field(1, field(1, 'B'), field(2, field(1, reference, field(33)))),
      ),
    ),
  ]);
  expect(runAtOnce(encodeDocumentV3({ openapi: '3.0.0', components: { schemas } })).toString('hex')).toBe(expected.toString('hex'));
});
