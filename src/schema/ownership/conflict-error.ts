import { type ApiError, applyConflict } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import type { Manager } from './managers.ts';
import { compareText, showPath } from './path-element.ts';
import type { Conflict } from './updater.ts';

/** What the client is told: one cause a field, and a text that lists them by manager (managedfields/internal/conflict.go). */
export function conflictError(conflicts: readonly Conflict[]): ApiError {
  const inOrder = conflicts.toSorted((a, b) => compareText(a.identity, b.identity));
  const causes = inOrder.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${showManager(manager)}`,
    field: showPath(path),
  }));
  return applyConflict(causes, messageOf(inOrder));
}

function messageOf(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1)
    return `Apply failed with 1 conflict: conflict with ${showManager(first.manager)}: ${showPath(first.path)}`;
  const lines: string[] = [];
  for (const [index, { identity, manager, path }] of conflicts.entries()) {
    if (conflicts[index - 1]?.identity !== identity) lines.push(`conflicts with ${showManager(manager)}:`);
    lines.push(`- ${showPath(path)}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function showManager({ name, subresource, operation, apiVersion }: Manager): string {
  const who = subresource === '' ? quote(name) : `${quote(name)} with subresource ${quote(subresource)}`;
  return operation === 'Update' ? `${who} using ${apiVersion}` : who;
}
