import { DEFAULT_SETTINGS } from '../features.ts';
import type { Change, KindSettings, Write } from '../../registry/write.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { RequestContext } from '../../registry/request-context.ts';
import { clone } from '../../schema/clone.ts';
import { decode } from '../../schema/decode.ts';
import { EmptyPaths, NOTHING_EMPTY } from '../../schema/empty-paths.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import type { JsonObject } from '../../encoding/json-types.ts';

/** What a kind's own hooks make of an object: for tests of kinds without a store around them. */
export interface TestOutcome<T> {
  object: T;
  /** `spec.replicas: Invalid value: -1: must be …` */
  problems: string[];
}

export const NOW = new Date('2026-11-16T12:00:00Z');
const CONTEXT: RequestContext = { user: { name: 'tester', uid: '', groups: [], extra: {} }, userAgent: '', warn() {}, annotateAudit() {}, signal: undefined };

/** A write as a server makes it, at a time that is always the same. */
export const testWrite = <T extends ApiObject>(object: T, settings: KindSettings = DEFAULT_SETTINGS): Write<T> => ({
  object,
  old: undefined,
  sentEmpty: NOTHING_EMPTY,
  settings,
  now: NOW,
  context: CONTEXT,
});

export const testChange = <T extends ApiObject>(object: T, old: T, settings: KindSettings = DEFAULT_SETTINGS): Change<T> => ({
  ...testWrite(object, settings),
  old,
});

/** As a client that sends this would have it after decoding and defaults. */
export const decoded = <T extends ApiObject>(definition: ResourceDefinition<T>, sent: object): T => decodedWrite(definition, sent).object;

/** The same with what was empty in it. */
export function decodedWrite<T extends ApiObject>(definition: ResourceDefinition<T>, sent: object): Write<T> {
  const sentEmpty = new EmptyPaths();
  const object = decode(definition.schema, sent as JsonObject, undefined, sentEmpty) as unknown as T;
  definition.served[0]!.default?.(object, { sentEmpty });
  return { ...testWrite(object, definition.settings), sentEmpty };
}

export function created<T extends ApiObject>(definition: ResourceDefinition<T>, sent: object): TestOutcome<T> {
  const write = decodedWrite(definition, sent);
  const { object } = write;
  if (definition.generation === 'spec') object.metadata.generation = 1;
  definition.prepareForCreate?.(write);
  return { object, problems: problemsOf((errors) => definition.validate?.(write, errors)) };
}

/** `subresource`: '' for the object itself. `next` is what the client sends. */
export function updated<T extends ApiObject>(definition: ResourceDefinition<T>, old: T, change: (next: T) => void, subresource = ''): TestOutcome<T> {
  const object = clone(old);
  change(object);
  const rules = subresource === '' ? definition : (definition.subresources?.[subresource]?.update ?? {});
  const write = testChange(object, old, definition.settings);
  rules.prepareForUpdate?.(write);
  const problems = problemsOf((errors) => {
    if (rules.validatesWhole === 'before') definition.validate?.(write, errors);
    rules.validateUpdate?.(write, errors);
    if (rules.validatesWhole === 'after') definition.validate?.(write, errors);
  });
  return { object, problems };
}

/** A row of `kubectl get -o wide`, by column. */
export const cellsOf = <T extends ApiObject>(definition: ResourceDefinition<T>, object: T): Record<string, unknown> =>
  Object.fromEntries((definition.table?.columns ?? []).map(({ name, cell }) => [name, cell(object, NOW)]));

/** Each once, as a Status' message has them. */
function problemsOf(check: (errors: FieldErrors) => void): string[] {
  const errors = new FieldErrors();
  check(errors);
  return [...new Set(errors.list.map(({ field, body }) => `${field}: ${body}`))];
}
