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

/** `/version` */
export function versionHandler(info: BuildInfo): Handler {
  const { major, minor, ...build } = info;
  const earlier = String(Number(minor) - 1);
  const text = JSON.stringify(
    { major, minor, emulationMajor: major, emulationMinor: minor, minCompatibilityMajor: major, minCompatibilityMinor: earlier, ...build },
    null,
    2,
  );
  return webService(JSON_TYPE, ({ exchange }) => exchange.respond(200, { 'content-type': JSON_TYPE }, text));
}
