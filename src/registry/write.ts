import type { ApiObject } from '../api/api-object.ts';
import { type EmptyPaths, NOTHING_EMPTY } from '../schema/empty-paths.ts';
import { ListTurns, settled } from '../util/pending.ts';
import type { ServedVersion, Subresource } from './definition.ts';
import type { RequestContext } from './request-context.ts';

/** What the flags of one server say to its kinds. */
export interface KindSettings {
  /** Names of feature gates that are on. */
  features: ReadonlySet<string>;
  /** --allow-privileged: off until set, as upstream's flag (pkg/capabilities). */
  allowsPrivileged: boolean;
  /** New expressions may only use what CEL had before v1.34: a server of that age is to read them (--min-compatibility-version). */
  hasFormerCel?: boolean;
}

/** What a kind's rules may ask beside an object. */
export interface KindContext {
  settings: KindSettings;
  now: Date;
  /** Lists and maps that the client sent empty, which the object is without. */
  sentEmpty: EmptyPaths;
  /** Of a large object: its defaults are filled in while others have their turn, and begun anew until they are. */
  turns?: ListTurns | undefined;
}

/** What is asked to be stored: an object, and what decoding knows of it beside. */
export interface SentObject<T extends ApiObject = ApiObject> {
  object: T;
  sentEmpty: EmptyPaths;
  /** The version that the object is in, whose defaults it is still without. Absent: that of storage, with its defaults. */
  served?: ServedVersion | undefined;
  /**
   * What the client sent, where that is of another kind than the object (a Scale) and only a part of it is taken. Mutating admission sees all of it, not
   * what can be read from the object again (apiextensions-apiserver customresource/etcd.go scaleUpdatedObjectInfo).
   */
  through?: ApiObject | undefined;
}

/** The object with what was sent through one of its subresources. What was empty in a Scale is nothing to the object. */
export function writeThrough(subresource: Subresource, object: ApiObject, { object: through }: SentObject): SentObject {
  return { object: subresource.write!(object, through), sentEmpty: NOTHING_EMPTY, through };
}

/** Fills in what the client left out, in its version. */
export const defaultObject = ({ object, sentEmpty, served }: SentObject): void => served?.default?.(object, { sentEmpty });

/** The same in a large object. */
export function defaultInTurns({ object, sentEmpty, served }: SentObject): void | Promise<void> {
  const turns = new ListTurns();
  return settled(() => {
    turns.begin();
    served?.default?.(object, { sentEmpty, turns });
  });
}

/** The same in the storage version. */
export function convertObject<T extends ApiObject>({ object, sentEmpty, served, through }: SentObject<T>): SentObject<T> {
  return { object: (served?.toStored?.(object, { sentEmpty }) ?? object) as T, sentEmpty, through };
}

/** An object that no client sent. */
export const serverMade = <T extends ApiObject>(object: T): SentObject<T> => ({ object, sentEmpty: NOTHING_EMPTY });

/**
 * Decodes what a write is to store: a body; a patch, of a private copy of what is stored; an apply, of what is stored itself. `current` is undefined where
 * there is none, which only a create and an update that may create ask for. Called anew for every attempt, each of which may change what it gets.
 */
export type NextObject<T extends ApiObject = ApiObject> = (current: T | undefined) => SentObject<T> | Promise<SentObject<T>>;

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

/** What an apply to the object itself has sent empty in its metadata. */
export const appliedEmpties = ({ isApply = false, subresource = '' }: { isApply?: boolean; subresource?: string }, sentEmpty: EmptyPaths): EmptyPaths =>
  isApply && subresource === '' ? sentEmpty.at('metadata') : NOTHING_EMPTY;
