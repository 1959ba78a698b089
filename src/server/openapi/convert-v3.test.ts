import { expect, test } from 'vitest';
import { runAtOnce } from '../../util/time-slice.ts';
import { convertToV3 } from './convert-v3.ts';

test('what v2 says is said as v3 says it', () => {
  const document = {
    swagger: '2.0',
    info: { title: 'x', version: '1' },
    paths: {
      '/a/{name}': {
        post: {
          consumes: ['application/json'],
          produces: ['application/json', 'application/yaml'],
          operationId: 'make',
          'x-kubernetes-action': 'post',
          parameters: [{ name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/A' } }, { $ref: '#/parameters/dry' }],
          responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/A' } }, 401: { description: 'Unauthorized' } },
        },
        parameters: [{ name: 'name', in: 'path', required: true, type: 'string', uniqueItems: true }],
      },
    },
    definitions: { A: { type: 'object', properties: { list: { type: 'array', items: { $ref: '#/definitions/A' } }, $ref: { type: 'string' } } } },
    parameters: { dry: { name: 'dryRun', in: 'query', type: 'string' } },
    securityDefinitions: { BearerToken: { type: 'apiKey' } },
  };
  const schema = { $ref: '#/components/schemas/A' };
  expect(runAtOnce(convertToV3(document))).toEqual({
    openapi: '3.0.0',
    info: { title: 'x', version: '1' },
    paths: {
      '/a/{name}': {
        post: {
          operationId: 'make',
          'x-kubernetes-action': 'post',
          parameters: [{ name: 'dryRun', in: 'query', schema: { type: 'string' } }],
          requestBody: { required: true, content: { 'application/json': { schema } } },
          responses: {
            200: { description: 'OK', content: { 'application/json': { schema }, 'application/yaml': { schema } } },
            401: { description: 'Unauthorized' },
          },
        },
        parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string', uniqueItems: true } }],
      },
    },
    components: {
      schemas: { A: { type: 'object', properties: { list: { type: 'array', items: schema }, $ref: { type: 'string' } } } },
      securitySchemes: { BearerToken: { type: 'apiKey' } },
    },
  });
});

test('what makes no sense is left out', () => {
  expect(runAtOnce(convertToV3({ paths: { '/a': 7, '/b': { get: 'x' } } }))).toEqual({
    openapi: '3.0.0',
    paths: { '/a': {}, '/b': {} },
    components: { schemas: {}, securitySchemes: {} },
  });
});
