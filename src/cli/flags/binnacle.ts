import { flag, flagSet } from './flag.ts';
import { string } from './types.ts';

/** What kube-apiserver has no flag for. */
export const binnacle = flagSet('Binnacle', {
  'data-dir': flag(string, 'Folder of the embedded store, and of the keys and certificates that the server makes for itself.', { default: '.binnacle' }),
});
