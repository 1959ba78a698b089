import { quote } from '../../../util/go-quote.ts';
import type { Volume, VolumeProjection } from '../../facts/types/core-v1.ts';

/** A file that the kubelet writes, and what it comes from where a volume has several sources. */
interface PlacedFile {
  path: string;
  /** `ConfigMap`; empty in a volume of one source. */
  source: string;
  sourceName?: string | undefined;
}

/** Files of one volume that take each other's place, or would have to be a directory and a file at once. */
export function overlapWarnings(volumes: readonly Volume[]): string[] {
  const warnings: string[] = [];
  for (const { name, configMap, secret, downwardAPI, projected } of volumes) {
    if (!configMap && !secret && !downwardAPI && !projected) continue;
    const warn = (kind: string, files: readonly PlacedFile[]): void => {
      for (const overlap of overlapsOf(files)) warnings.push(`volume ${quote(name)} (${kind}): overlapping paths: ${overlap}`);
    };
    if (configMap?.items) warn(`ConfigMap ${quote(configMap.name ?? '')}`, filesOf(configMap.items));
    if (secret?.items) warn(`Secret ${quote(secret.secretName ?? '')}`, filesOf(secret.items));
    if (downwardAPI?.items) warn('DownwardAPI', filesOf(downwardAPI.items));
    const sources = projected?.sources ?? [];
    // Equal warnings are told once.
    if (sources.some((source) => Object.keys(source).length === 0)) warnings.push(`volume ${quote(name)} (Projected) has no sources provided`);
    if (sources.length > 0) warn('Projected', sources.flatMap(projectedFiles));
  }
  return warnings;
}

const filesOf = (items: readonly { path: string }[], source = '', sourceName?: string): PlacedFile[] => items.map(({ path }) => ({ path, source, sourceName }));

function projectedFiles({ configMap, secret, downwardAPI, serviceAccountToken }: VolumeProjection): PlacedFile[] {
  if (configMap?.items) return filesOf(configMap.items, 'ConfigMap', configMap.name ?? '');
  if (secret?.items) return filesOf(secret.items, 'Secret', secret.name ?? '');
  if (downwardAPI?.items) return filesOf(downwardAPI.items, 'DownwardAPI');
  return serviceAccountToken ? filesOf([serviceAccountToken], 'ServiceAccountToken') : [];
}

/** So many files of a volume are compared with so many before them; far fewer warnings than that reach a client. */
const MAX_FILES = 1_000;
const MAX_COMPARED = 100;

function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}

function overlapsOf(files: readonly PlacedFile[]): string[] {
  const overlaps: string[] = [];
  const known: PlacedFile[] = [];
  for (const { path, source, sourceName } of files.slice(0, MAX_FILES)) {
    const file = { path: withoutTrailingSlashes(path), source, sourceName };
    for (const other of known) if (isOverlap(file.path, other.path)) overlaps.push(`${print(file)} with ${print(other)}`);
    if (known.length < MAX_COMPARED) known.push(file);
  }
  return overlaps;
}

const isOverlap = (path: string, other: string): boolean => path !== '' && other !== '' && (isAtOrBelow(other, path) || isAtOrBelow(path, other));

const isAtOrBelow = (path: string, folder: string): boolean => path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/');

function print({ path, source, sourceName }: PlacedFile): string {
  if (source === '') return quote(path);
  return `${quote(path)} (${sourceName === undefined ? source : `${source} ${quote(sourceName)}`})`;
}
