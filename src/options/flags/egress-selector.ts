import { flag, flagSet } from './flag.ts';
import { file } from './types.ts';

export const egressSelector = flagSet('egress selector', {
  'egress-selector-config-file': flag(file, 'File that says through which proxies to reach nodes, etcd and the control plane.', {}),
});
