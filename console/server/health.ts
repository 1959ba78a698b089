export interface HealthCheck {
  name: string;
  isOk: boolean;
  detail: string;
}

/** `[+]ping ok`, `[-]etcd failed: reason withheld`, as `/readyz?verbose` has them. */
export const parseChecks = (text: string): HealthCheck[] =>
  [...text.matchAll(/^\[([+-])\](\S+) (.*)$/gm)].map(([, sign, name, rest]) => ({ name: name!, isOk: sign === '+', detail: rest === 'ok' ? '' : rest! }));
