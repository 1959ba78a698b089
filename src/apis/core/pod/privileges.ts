/**
 * `--allow-privileged`: one answer for the process, since every kind with a pod's template asks. As upstream's flag, it is off until set
 * (pkg/capabilities).
 */
let isAllowed = false;

/** To be called before the server serves. */
export function allowPrivileged(allowed: boolean): void {
  isAllowed = allowed;
}

export const arePrivilegedAllowed = (): boolean => isAllowed;
