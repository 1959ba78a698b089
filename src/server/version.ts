import { JSON_TYPE } from '../endpoints/negotiation.ts';
import type { Handler } from '../endpoints/request.ts';
import type { BuildInfo } from './metrics/process-metrics.ts';
import { webService } from './web-service.ts';

/** What this server says it is: the Kubernetes release whose API it has, built here. */
export function buildInfo(gitVersion: string): BuildInfo {
  const [major = '', minor = ''] = gitVersion.slice(1).split('.');
  return {
    major,
    minor,
    gitVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}

/** The minor versions that it emulates, and is compatible with. */
export interface ShownVersions {
  emulation: { major: number; minor: number };
  minCompatibility: { major: number; minor: number };
}

/** `/version` */
export function versionHandler(info: BuildInfo, { emulation, minCompatibility }: ShownVersions): Handler {
  const { major, minor, ...build } = info;
  const shown = {
    major,
    minor,
    emulationMajor: String(emulation.major),
    emulationMinor: String(emulation.minor),
    minCompatibilityMajor: String(minCompatibility.major),
    minCompatibilityMinor: String(minCompatibility.minor),
    ...build,
  };
  const text = JSON.stringify(shown, null, 2);
  return webService(JSON_TYPE, ({ exchange }) => exchange.respond(200, { 'content-type': JSON_TYPE }, text));
}
