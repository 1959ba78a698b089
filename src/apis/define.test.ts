import { expect, test } from 'vitest';
import { defineResource, withActions } from './define.ts';

const create = async () => ({ kind: 'Status', apiVersion: 'v1', metadata: {} });

test('actions join a copy; schemas are still looked up when they are asked for', () => {
  const pods = defineResource('v1/pods');
  const acting = withActions(pods, { binding: { create } });
  expect(acting.subresources!.binding!.create).toBe(create);
  expect(pods.subresources!.binding!.create).toBeUndefined();
  expect(acting.subresources!.status).toBe(pods.subresources!.status);
  for (const value of [acting, acting.subresources!.binding!]) expect(Object.getOwnPropertyDescriptor(value, 'schema')!.get).toBeTypeOf('function');
  expect(acting.schema).toBe(pods.schema);
  expect(acting.subresources!.binding!.schema).toBe(pods.subresources!.binding!.schema);
});
