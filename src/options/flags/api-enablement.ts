import { flag, flagSet } from './flag.ts';
import { configurationMap } from './types.ts';

export const apiEnablement = flagSet('API enablement', {
  'runtime-config': flag(
    configurationMap,
    'APIs to turn on or off, as key=true|false pairs, comma separated.\n' +
      '<group>/<version> for one version of a group; v1 for the core group\n' +
      '<group>/<version>/<resource> for one resource\n' +
      'api/all for all versions; api/ga, api/beta and api/alpha for those of a stage',
  ),
});
