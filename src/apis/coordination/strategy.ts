import type { FieldErrors } from '../../api/field-errors.ts';
import { qualifiedNameErrors } from '../../api/names.ts';

export const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion';
const STRATEGIES = [OLDEST_EMULATION_VERSION];

/** How the server picks a lease's holder among its candidates (KEP-4355). `errors` stands at the field; upstream names it twice. */
export function validateStrategy(strategy: string, errors: FieldErrors): void {
  const at = errors.at('strategy');
  if (strategy.includes('/')) for (const error of qualifiedNameErrors(strategy)) at.invalidTyped(strategy, error);
  else if (!STRATEGIES.includes(strategy)) at.notSupported(strategy, STRATEGIES);
}
