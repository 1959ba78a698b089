import type { FieldErrors } from '../../api/field-errors.ts';

/** No `..` among the path's parts. */
export function validateNoBacksteps(path: string, errors: FieldErrors): void {
  if (path.includes('..') && path.split('/').includes('..')) errors.invalid(path, "must not contain '..'");
}

/** Relative, and stays below where it starts. */
export function validateDescendingPath(path: string, errors: FieldErrors): void {
  if (path.startsWith('/')) errors.invalid(path, 'must be a relative path');
  validateNoBacksteps(path, errors);
}

/** The same, and clear of the names that the kubelet keeps for itself in a volume. */
export function validateUnreservedPath(path: string, errors: FieldErrors): void {
  validateDescendingPath(path, errors);
  if (path.startsWith('..') && !path.startsWith('../')) errors.invalid(path, "must not start with '..'");
}
