import { describe, expect, test } from 'vitest';
import { negotiateInput, negotiateOutput, parseAccept } from './negotiation.ts';

const RESOURCE = { isResource: true, isCustom: false, mayStream: true };
const CUSTOM = { ...RESOURCE, isCustom: true };
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('accept', () => {
  test('orders by quality, then by how much a clause says', () => {
    expect(parseAccept('*/*;q=0.8, application/json;q=0.9 ,application/*, bad, a/b/c').map((c) => `${c.type}/${c.subtype}`)).toEqual([
      'application/*',
      'application/json',
      '*/*',
    ]);
  });

  test.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/yaml', 'application/yaml'],
    ['application/vnd.kubernetes.protobuf,application/json', 'application/vnd.kubernetes.protobuf'],
    ['application/json;q=0.5,application/yaml', 'application/yaml'],
    ['application/json;stream=watch', 'application/json'],
    ['text/html,application/json', 'application/json'],
  ])('%s is answered as %s', (accept, mediaType) => {
    expect(negotiateOutput(accept, RESOURCE).mediaType).toBe(mediaType);
  });

  test('tables have no protobuf form, so the next clause counts', () => {
    expect(negotiateOutput(`application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,${TABLE}`, RESOURCE)).toMatchObject({
      mediaType: 'application/json',
      transform: { kind: 'Table', version: 'v1' },
    });
  });

  test('custom resources have protobuf for metadata only', () => {
    expect(negotiateOutput('application/vnd.kubernetes.protobuf,application/json', CUSTOM).mediaType).toBe('application/json');
    expect(negotiateOutput('application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', CUSTOM).mediaType).toBe(
      'application/vnd.kubernetes.protobuf',
    );
  });

  test('what nobody produces is refused by the router, what cannot be made by negotiation', () => {
    expect(() => negotiateOutput('text/html', RESOURCE)).toThrow(
      '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    );
    expect(() => negotiateOutput(TABLE.replace('v=v1', 'v=v9'), RESOURCE)).toThrow(
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
  });
});

test('a log is text that nobody may ask for alone', () => {
  const log = { isResource: true, isCustom: false, hasNoTable: true, mayStream: false, alsoProduces: 'text/plain' };
  expect(negotiateOutput('application/yaml', log).mediaType).toBe('application/yaml');
  expect(() => negotiateOutput('text/html', log)).toThrow('Available representations: text/plain, application/json, application/yaml');
  expect(() => negotiateOutput('text/plain', log)).toThrow('only the following media types are accepted: application/json,');
  expect(() => negotiateOutput(TABLE, log)).toThrow('only the following media types are accepted: application/json,');
});

test('content types', () => {
  expect(negotiateInput(undefined, false)).toBe('application/json');
  expect(negotiateInput('Application/YAML; charset=utf-8', false)).toBe('application/yaml');
  expect(() => negotiateInput('text/plain', false)).toThrow(
    'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  );
  expect(() => negotiateInput('application/vnd.kubernetes.protobuf', true)).toThrow('accepted media types include: application/json, application/yaml');
});

describe('with CBOR', () => {
  test('is chosen where clients prefer it, and never for tables', () => {
    expect(negotiateOutput('application/cbor', { ...RESOURCE, hasCbor: true }).mediaType).toBe('application/cbor');
    expect(negotiateOutput('application/cbor', { ...CUSTOM, hasCbor: true }).mediaType).toBe('application/cbor');
    expect(negotiateOutput(`application/cbor;as=Table;v=v1;g=meta.k8s.io,${TABLE}`, { ...RESOURCE, hasCbor: true }).mediaType).toBe('application/json');
    expect(() => negotiateOutput('application/cbor', RESOURCE)).toThrow('406: Not Acceptable');
  });

  test('is taken where it is spoken', () => {
    expect(negotiateInput('application/cbor', true, true)).toBe('application/cbor');
    expect(() => negotiateInput('application/cbor', false)).toThrow('accepted media types include: application/json, application/yaml');
  });
});
