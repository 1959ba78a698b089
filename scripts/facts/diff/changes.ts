import type { FactSet, Table } from './fact-set.ts';
import { type Change, type Detail, objectDetail, partDetail, tableChanges } from './table-changes.ts';
import { typeChanges } from './type-changes.ts';

export interface Section {
  readonly title: string;
  /** Undefined where one of the sets does not have these facts. */
  readonly changes: readonly Change[] | undefined;
}

/** Everything that differs between two sets of facts, but for upstream's sources. */
export function changesBetween(a: FactSet, b: FactSet): Section[] {
  const compare = (title: string, of: (set: FactSet) => Table | undefined, detail: Detail): Section => {
    const [before, after] = [of(a), of(b)];
    return { title, changes: before && after && tableChanges(before, after, detail) };
  };
  return [
    compare(
      'Groups and versions',
      (set) => set.groupVersions,
      (_before, after) => after ?? '',
    ),
    compare('Resources', (set) => set.resources, resourceDetail),
    { title: 'Types and fields', changes: typeChanges(a, b) },
    a.flags && b.flags
      ? compare('Flags', (set) => set.flags, objectDetail)
      : compare(
          'Flags',
          (set) => set.flagNames,
          () => '',
        ),
    compare('Feature gates', (set) => set.gates, gateDetail),
    compare('Metrics', (set) => set.metrics, objectDetail),
    compare(
      'Bootstrap objects',
      (set) => set.bootstrap,
      (before, after) => (before !== undefined && after !== undefined ? objectDetail(before, after) : ''),
    ),
    compare('Table columns', (set) => set.columns, columnDetail),
    compare(
      'Health checks',
      (set) => set.checks,
      () => '',
    ),
  ];
}

function resourceDetail(before: string | undefined, after: string | undefined): string {
  if (before !== undefined || after === undefined) return objectDetail(before, after);
  const { kind, namespaced } = JSON.parse(after) as { kind: string; namespaced: boolean };
  return `${kind}, ${namespaced ? 'namespaced' : 'of the cluster'}`;
}

function gateDetail(before: string | undefined, after: string | undefined): string {
  const words = (text: string | undefined): string => {
    if (text === undefined) return '';
    const { stage, default: isOn, locked, needs } = JSON.parse(text) as { stage: string; default: boolean; locked?: true; needs?: string[] };
    return `${stage} ${isOn ? 'on' : 'off'}${locked ? ' locked' : ''}${needs ? ` needs ${needs.join(', ')}` : ''}`;
  };
  return before === undefined ? words(after) : `${words(before)} → ${words(after)}`;
}

function columnDetail(before: string | undefined, after: string | undefined): string {
  const names = (text: string | undefined): string[] =>
    text === undefined ? [] : (JSON.parse(text) as { name: string; priority: number }[]).map(({ name, priority }) => (priority > 0 ? `${name} (wide)` : name));
  return before === undefined ? names(after).join(', ') : partDetail(names(before), names(after));
}
