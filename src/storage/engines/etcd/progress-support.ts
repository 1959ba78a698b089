import { compareSemanticVersions, parseSemanticVersion } from '../../../util/semantic-version.ts';

const [V3_4_31, V3_5_0, V3_5_13] = ['3.4.31', '3.5.0', '3.5.13'].map((text) => parseSemanticVersion(text)!) as [Version, Version, Version];
type Version = NonNullable<ReturnType<typeof parseSemanticVersion>>;

/**
 * Whether a member of this version says that a watch has reached a revision only when it has: etcd issues 15220 and 17507, and upstream's
 * apiserver/pkg/storage/feature/feature_support_checker.go.
 */
export function hasSafeProgress(versionText: string): boolean {
  const version = parseSemanticVersion(versionText);
  if (!version) return false;
  const isBefore = (other: Version): boolean => compareSemanticVersions(version, other) < 0;
  return !isBefore(V3_4_31) && (isBefore(V3_5_0) || !isBefore(V3_5_13));
}
