import { admissionPlugins } from '../../admission/plugin-order.ts';
import { flag, flagSet } from './flag.ts';
import { file, int, strings } from './types.ts';

const all = admissionPlugins.map(({ name }) => name).toSorted();
const onByDefault = admissionPlugins.filter((plugin) => plugin.isOnByDefault).map(({ name }) => name);

export const admission = flagSet('admission', {
  'admission-control': flag(strings, 'The admission plug-ins to run, and no others; comma separated.', {
    deprecated: 'Use --enable-admission-plugins or --disable-admission-plugins instead. Will be removed in a future version.',
  }),
  'admission-control-config-file': flag(
    file,
    'File that configures admission plug-ins (AdmissionConfiguration): EventRateLimit, ImagePolicyWebhook, PodNodeSelector, PodSecurity, PodTolerationRestriction, ResourceQuota and the webhooks.',
  ),
  'default-not-ready-toleration-seconds': flag(int, 'Seconds for which pods tolerate notReady:NoExecute, where they do not say.', { default: 300 }),
  'default-unreachable-toleration-seconds': flag(int, 'Seconds for which pods tolerate unreachable:NoExecute, where they do not say.', { default: 300 }),
  'disable-admission-plugins': flag(
    strings,
    `Admission plug-ins not to run, comma separated; their order does not matter.\nOn by default: ${onByDefault.join(', ')}.`,
  ),
  'enable-admission-plugins': flag(
    strings,
    `Admission plug-ins to run besides those that are on by default, comma separated; their order does not matter.\nKnown ones: ${all.join(', ')}.`,
  ),
});
