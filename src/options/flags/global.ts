import { flag, flagSet } from './flag.ts';
import { bool, version } from './types.ts';

export const global = flagSet('global', {
  help: flag(bool, 'Show this help.', { short: 'h' }),
  version: flag(version, '--version and --version=raw print the version and end; --version=vX.Y.Z-suffix sets the one that is reported.'),
});
