import type { ApiObject } from '../api/api-object.ts';
import type { RequestContext } from './request-context.ts';

/** What the flags of one server say to its kinds. */
export interface KindSettings {
  /** Names of feature gates that are on. */
  features: ReadonlySet<string>;
  /** --allow-privileged: off until set, as upstream's flag (pkg/capabilities). */
  allowsPrivileged: boolean;
}

/** What a kind's rules may ask beside an object. */
export interface KindContext {
  settings: KindSettings;
  now: Date;
}

/** One write of one object, as the hooks of its kind see it: all that a rule may ask. */
export interface Write<T extends ApiObject = ApiObject> extends KindContext {
  /** What is to be stored, in its storage version. Hooks that prepare it change it in place. */
  object: T;
  /** What is stored; undefined where the object is new. Never changed. */
  old: T | undefined;
  context: RequestContext;
}

/** A write of an object that is there. */
export interface Change<T extends ApiObject = ApiObject> extends Write<T> {
  old: T;
}
