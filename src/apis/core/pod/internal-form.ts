import { withoutEmpty } from '../../validation/internal-form.ts';
import { isJsonObject } from '../../../encoding/json.ts';
import type { Json, JsonObject } from '../../../encoding/json-types.ts';
import type { NodeSelectorTerm, PodSpec } from '../../facts/types/core-v1.ts';
import internalTypes from './internal-types.json' with { type: 'json' };

/**
 * Upstream prints parts of pods in messages as its internal types have them: under the names of Go's fields, in their order, with all that is not set. The
 * table beside this file holds those types, one line each: `GoName[:name][=zero]`, where zero is a JSON value, a type, `*Type` or `[]Type`; null if absent.
 */
interface InternalField {
  goName: string;
  name: string;
  zero: Json;
  /** The type of the value, or of a list's items. */
  type: string | undefined;
  isNullable: boolean;
}

const lines: Record<string, string> = internalTypes;
const fieldsByType = new Map<string, readonly InternalField[]>();

export type InternalType = keyof typeof internalTypes;

/** Any part of a pod but its spec, in upstream's internal form. */
export const internalPodPart = (type: InternalType, value: object | undefined): Json => formOf(type, value as JsonObject | undefined);

export const shownTerm = (term: NodeSelectorTerm): Json => internalPodPart('NodeSelectorTerm', term);

/** A spec: the fields about the host's namespaces stand in the security context there. */
export function internalPodSpec(spec: PodSpec): Json {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers, securityContext, ...rest } = spec;
  const context = { ...securityContext, hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers };
  return formOf('PodSpec', { ...rest, securityContext: context } as unknown as JsonObject);
}

/** A template, for kinds whose messages show it whole: metadata's fields stand beside `Spec`. */
export function internalPodTemplate({ metadata, spec }: { metadata: object; spec: PodSpec }): Json {
  return { ...withoutEmpty(metadata as JsonObject), Spec: internalPodSpec(spec) };
}

function formOf(type: string, value: JsonObject | undefined): JsonObject {
  const form: JsonObject = {};
  for (const { goName, name, zero, type: inner, isNullable } of fieldsOf(type)) {
    const item = value?.[name];
    if (goName === '') Object.assign(form, isJsonObject(item) ? withoutEmpty(item) : item);
    else if (inner === undefined) form[goName] = LABEL_SELECTOR.test(goName) && isJsonObject(item) ? withoutEmpty(item) : (item ?? zero);
    else if (Array.isArray(item)) form[goName] = item.map((each) => formOf(inner, each as JsonObject));
    else form[goName] = (item ?? null) === null && isNullable ? null : formOf(inner, (item ?? undefined) as JsonObject | undefined);
  }
  return form;
}

/** A type of meta/v1, which is written as clients are sent it: without what is empty. */
const LABEL_SELECTOR = /^(Label|Namespace)?Selector$/;

function fieldsOf(type: string): readonly InternalField[] {
  let fields = fieldsByType.get(type);
  if (!fields) fieldsByType.set(type, (fields = lines[type]!.split(' ').map(parseField)));
  return fields;
}

function parseField(text: string): InternalField {
  const [names = '', zero = 'null'] = text.split('=');
  const [goName = '', name = goName.slice(0, 1).toLowerCase() + goName.slice(1)] = names.split(':');
  const type = /^(?:\*|\[\])?([A-Z]\w*)$/.exec(zero)?.[1];
  return { goName, name, zero: type === undefined && goName !== '' ? (JSON.parse(zero) as Json) : null, type, isNullable: /^[*[]/.test(zero) };
}
