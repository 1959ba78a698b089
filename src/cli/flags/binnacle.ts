import { flag, flagSet } from './flag.ts';
import { CONTROLLER_NAMES } from '../../controllers/names.ts';
import { file, string, strings } from './types.ts';

/** What kube-apiserver has no flag for. */
export const binnacle = flagSet('Binnacle', {
  'basic-auth-file': flag(
    file,
    'CSV file of passwords: password,user,uid,"group1,group2". Prefer tokens or certificates: a password goes along with every request.',
  ),
  controllers: flag(
    strings,
    `Controllers to run in this process, for a cluster that has no kube-controller-manager: names, '*' for all, -name for all but that one. \`binnacle up\` runs all.
Controllers: ${CONTROLLER_NAMES.join(', ')}.`,
  ),
  'data-dir': flag(string, 'Folder of the embedded store, and of the keys and certificates that the server makes for itself.', { default: '.binnacle' }),
  'root-ca-file': flag(
    file,
    'Certificates that the root-ca-certificate-publisher-controller gives to pods. Default: the authority of --client-ca-file that signed the serving certificate, or else that certificate.',
  ),
});
