import type { ApiObject } from '../api/api-object.ts';
import type { Subresource } from './definition.ts';

/*
 * An object that is written through a subresource of another kind (a Scale) takes only a part of what its client sent. Mutating admission sees all of it, not
 * what can be read from the object again (apiextensions-apiserver customresource/etcd.go scaleUpdatedObjectInfo).
 */

const sentObjects = new WeakMap<ApiObject, ApiObject>();

/** The object with what was sent through its subresource, which is remembered. */
export function writeThrough(subresource: Subresource, object: ApiObject, sent: ApiObject): ApiObject {
  const written = subresource.write!(object, sent);
  noteSent(written, sent);
  return written;
}

export const noteSent = (object: ApiObject, sent: ApiObject): void => void sentObjects.set(object, sent);

export const sentThrough = (object: ApiObject): ApiObject | undefined => sentObjects.get(object);
