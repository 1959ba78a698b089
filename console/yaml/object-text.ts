import { LineCounter, type Node, isMap, isPair, isScalar, isSeq, parseDocument, stringify } from 'yaml';
import type { ApiObject } from '../api/objects.ts';

/** Steps from the object to one of its fields: names in maps, numbers in lists. */
export type FieldPath = readonly (string | number)[];

/** What a person reads and edits: kubectl's order of fields, and no managed fields, which are shown in other ways. */
export function objectText(object: ApiObject): string {
  const { apiVersion, kind, metadata, ...rest } = object;
  const { managedFields: _, ...shown } = metadata;
  return stringify(
    { apiVersion, kind, metadata: shown, ...rest },
    { lineWidth: 0, aliasDuplicateObjects: false, defaultStringType: 'PLAIN', indentSeq: false },
  );
}

export interface ParsedText {
  object: ApiObject | undefined;
  /** What is wrong with the text, with the line (from 1) at which it is. */
  error?: { message: string; line: number };
}

const MAX_ALIASES = 100;

export function parseObject(text: string): ParsedText {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const [failure] = document.errors;
  if (failure) return { object: undefined, error: { message: failure.message, line: counter.linePos(failure.pos[0]).line } };
  const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { object: undefined, error: { message: 'This is no object.', line: 1 } };
  return { object: value as ApiObject };
}

/** Which field each line (from 0) begins; lines of long texts have none. The text may be broken: then there are those that could be read. */
export function linePaths(text: string): (FieldPath | undefined)[] {
  const counter = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const paths: (FieldPath | undefined)[] = [];
  const note = (node: unknown, path: FieldPath): void => {
    const offset = (node as Node | null)?.range?.[0];
    if (offset !== undefined) paths[counter.linePos(offset).line - 1] = path;
  };
  const walk = (node: unknown, path: FieldPath): void => {
    if (isMap(node)) {
      for (const pair of node.items) {
        if (!isPair(pair) || !isScalar(pair.key)) continue;
        const inner = [...path, String(pair.key.value)];
        note(pair.key, inner);
        walk(pair.value, inner);
      }
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        const inner = [...path, index];
        note(item, inner);
        walk(item, inner);
      }
    }
  };
  walk(contents, []);
  return paths;
}

export const fieldPathText = (path: FieldPath): string =>
  path.reduce<string>((text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`), '');
