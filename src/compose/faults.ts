import { readFaults } from '../faults/configuration.ts';
import { withFaults } from '../faults/filter.ts';
import { CommandError } from '../options/command-error.ts';
import type { Filter } from '../server/filters/filter.ts';
import type { Logger } from './logger.ts';

/** The filter of `--fault-config-file`; each fault that a request meets is a line of the log. */
export function openFaults(file: string, logger: Logger, revision: () => number): Filter {
  try {
    const faults = readFaults(file, ({ rule, verb, resource, namespace, name, user }) =>
      logger.warn('Injected a fault', { rule: rule.name ?? JSON.stringify(rule), verb, resource, namespace, name, user }),
    );
    faults.followRevision(revision);
    return withFaults(faults);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) throw error;
    throw new CommandError(`--fault-config-file: ${(error as Error).message}`);
  }
}
