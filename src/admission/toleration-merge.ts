import type { Toleration } from '../apis/facts/types/core-v1.ts';
import { requestEntityTooLarge } from '../api/errors.ts';
import { LIMITS } from '../util/limits.ts';
import { equalJson } from '../encoding/json-equal.ts';

/** Both lists as one, without those that another one covers; of equal ones the first stays (pkg/util/tolerations). */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  if (all.length > LIMITS.mergedTolerations) throw requestEntityTooLarge(`limit is ${LIMITS.mergedTolerations} tolerations`);
  const merged: Toleration[] = [];
  for (const [index, toleration] of all.entries()) {
    if (merged.some((kept) => covers(kept, toleration))) continue;
    if (all.slice(index + 1).some((later) => !equalJson(later, toleration) && covers(later, toleration))) continue;
    merged.push({ ...toleration });
  }
  return merged;
}

/** Whether `wide` tolerates all that `narrow` does. */
export function covers(wide: Toleration, narrow: Toleration): boolean {
  if (equalJson(wide, narrow)) return true;
  const hasAnyKey = !wide.key && wide.operator === 'Exists';
  if ((wide.key ?? '') !== (narrow.key ?? '') && !hasAnyKey) return false;
  if (wide.effect && wide.effect !== narrow.effect) return false;
  const limit = wide.effect === 'NoExecute' ? wide.tolerationSeconds : undefined;
  if (limit !== undefined && (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > limit)) return false;
  if (wide.operator === 'Exists') return true;
  return (!wide.operator || wide.operator === 'Equal') && narrow.operator === 'Equal' && (wide.value ?? '') === (narrow.value ?? '');
}
