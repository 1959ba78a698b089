import { flag, flagSet } from './flag.ts';
import { file, string } from './types.ts';

/** What kube-apiserver has no flag for. */
export const binnacle = flagSet('Binnacle', {
  'basic-auth-file': flag(file, 'CSV file of passwords: password,user,uid,"group1,group2". Prefer tokens or certificates: a password goes along with every request.'),
  'data-dir': flag(string, 'Folder of the embedded store, and of the keys and certificates that the server makes for itself.', { default: '.binnacle' }),
});
