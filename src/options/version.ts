import packageJson from '../../package.json' with { type: 'json' };
import { CommandError } from './command-error.ts';

/** What `/version` and `--version` report: scripts and kubeadm read the second word of `Kubernetes v1.36.4`. */
export const KUBERNETES_VERSION = 'v1.36.4';
export const BINNACLE_VERSION: string = packageJson.version;

/** The version to report: ours, or the one that `--version=vX.Y.Z-suffix` sets, which must be the same release (component-base/version). */
export function reportedVersion(flagValue: string): string {
  if (!flagValue.startsWith('v')) return KUBERNETES_VERSION;
  const release = /^v\d+\.\d+\.\d+/.exec(flagValue)?.[0];
  if (release === undefined)
    throw new CommandError(`invalid argument ${JSON.stringify(flagValue)} for "--version" flag: could not parse ${JSON.stringify(flagValue)}`);
  if (release !== KUBERNETES_VERSION) {
    throw new CommandError(
      `invalid argument ${JSON.stringify(flagValue)} for "--version" flag: version ${JSON.stringify(flagValue)} must match major/minor/patch of default version ${JSON.stringify(KUBERNETES_VERSION)}`,
    );
  }
  return flagValue;
}
