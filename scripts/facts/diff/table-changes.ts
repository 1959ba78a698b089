import { stable, type Table } from './fact-set.ts';

export interface Change {
  readonly kind: 'added' | 'removed' | 'changed';
  /** What it is about, by its name in the table. */
  readonly subject: string;
  /** What it is now, or what became of it, in a few words. */
  readonly detail: string;
}

/** From what a thing was and what it is, undefined where it is not: the words about it. */
export type Detail = (before: string | undefined, after: string | undefined) => string;

export function tableChanges(before: Table, after: Table, detail: Detail): Change[] {
  const changes: Change[] = [];
  for (const [subject, was] of before) {
    const is = after.get(subject);
    if (is === undefined) changes.push({ kind: 'removed', subject, detail: '' });
    else if (is !== was) changes.push({ kind: 'changed', subject, detail: detail(was, is) });
  }
  for (const [subject, is] of after) if (!before.has(subject)) changes.push({ kind: 'added', subject, detail: detail(undefined, is) });
  return changes.toSorted((x, y) => (x.subject < y.subject ? -1 : x.subject > y.subject ? 1 : 0));
}

const LONG = 120;
const brief = (text: string): string => (text.length > LONG ? `${text.slice(0, LONG - 1)}…` : text);

/** The members of an object that differ; of a new one, what it is as a whole. */
export function objectDetail(before: string | undefined, after: string | undefined): string {
  if (after === undefined) return '';
  if (before === undefined) return brief(after);
  const [was, is] = [before, after].map((text) => JSON.parse(text) as Record<string, unknown>) as [Record<string, unknown>, Record<string, unknown>];
  const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((key) => stable(was[key]) !== stable(is[key]));
  return keys.map((key) => `${key}: ${partDetail(was[key], is[key])}`).join('; ');
}

/** Of lists, what came and went. */
export function partDetail(was: unknown, is: unknown): string {
  if (!Array.isArray(was) || !Array.isArray(is)) return `${brief(stable(was) ?? 'none')} → ${brief(stable(is) ?? 'none')}`;
  const [before, after] = [was, is].map((list: unknown[]) => list.map((item) => stable(item))) as [string[], string[]];
  const came = after.filter((item) => !before.includes(item)).map((item) => `+${brief(item)}`);
  const went = before.filter((item) => !after.includes(item)).map((item) => `−${brief(item)}`);
  return [...came, ...went].join(' ') || 'in another order';
}
