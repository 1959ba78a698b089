import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../api/api-object.ts';
import { acceptedObject } from './converted-object.ts';

const APPLIED = { apiVersion: 'example.com/v1', kind: 'Thing', spec: { host: 'a' } };

describe('an object without metadata, as server-side apply converts it when everything its manager had owned is taken away', () => {
  const bare = APPLIED as unknown as ApiObject;

  it('is refused in words when it comes back without metadata', () => {
    expect(() => acceptedObject(bare, { ...APPLIED, apiVersion: 'example.com/v2' }, 'example.com/v2')).toThrow(
      'conversion webhook for example.com/v1, Kind=Thing returned invalid metadata: missing metadata in converted object',
    );
  });

  it('has the labels that it comes back with, and none of the rest', () => {
    const answer = { ...APPLIED, apiVersion: 'example.com/v2', metadata: { labels: { a: 'b' }, generateName: 'x' } };
    expect(acceptedObject(bare, answer, 'example.com/v2').metadata).toEqual({ labels: { a: 'b' } });
  });

  it('is refused when it comes back with a name', () => {
    const answer = { ...APPLIED, apiVersion: 'example.com/v2', metadata: { name: 'n' } };
    expect(() => acceptedObject(bare, answer, 'example.com/v2')).toThrow('returned invalid object: must have the same name:  != n');
  });
});
