import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TABLES } from '../../bootstrap/generate.ts';
import { type OpenApiSchema, referenceOf } from '../openapi.ts';
import type { UpstreamPaths } from '../upstream-paths.ts';
import type { Change } from './table-changes.ts';
import type { FactSet } from './fact-set.ts';

/*
 * Which files of ours a change concerns. Kinds are found by facts/upstream-paths.json; flags, gates, metrics and checks by their names, which stand in our
 * sources as they do in upstream's.
 */

/** Our sources that somebody wrote, by path. */
export type Sources = ReadonlyMap<string, string>;

const GENERATED = /^src\/apis\/facts\//;
const MANY = 4;

export function readSources(root = '.'): Sources {
  const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path}`)
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !GENERATED.test(path));
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

export interface ConcernSources {
  readonly paths: UpstreamPaths;
  readonly sources: Sources;
  /** Both sets, for what their types belong to: the newer one does not have those that are gone. */
  readonly before: FactSet;
  readonly after: FactSet;
}

/** Our files that a change of a section concerns; none where nothing of ours knows it yet. */
export function concernOf(title: string, { kind, subject }: Change, from: ConcernSources): string[] {
  switch (title) {
    case 'Groups and versions':
      return [from.paths.groups[groupOf(subject)]?.ours ?? ''].filter(Boolean);
    case 'Resources':
    case 'Table columns':
      return kindFile(subject.replace(/^apis?\//, ''), from.paths);
    case 'Types and fields':
      return typeFiles(subject, kind === 'removed' ? from.before : from.after, from.paths);
    case 'Bootstrap objects':
      return bootstrapFiles(subject);
    case 'Feature gates':
      // Every gate stands in the table of gates; what matters is who asks for it.
      return named(subject, from.sources).filter((path) => !path.endsWith('/feature-gate-facts.ts'));
    default:
      return named(title === 'Health checks' ? subject.slice(subject.lastIndexOf('/') + 1) : subject, from.sources);
  }
}

const groupOf = (groupVersion: string): string => (groupVersion.includes('/') ? groupVersion.slice(0, groupVersion.indexOf('/')) : '');

/** `apps/v1/deployments/scale` → the file of deployments. */
function kindFile(resource: string, { kinds, groups }: UpstreamPaths): string[] {
  const [, group, plural] = /^(?:([^/]+)\/)?v\d\w*\/([^/]+)/.exec(resource) ?? [];
  const kind = kinds[group === undefined ? plural! : `${group}/${plural}`];
  return [kind?.ours ?? groups[group ?? '']?.ours ?? ''].filter(Boolean);
}

function bootstrapFiles(subject: string): string[] {
  const table = subject.slice(0, subject.indexOf('/'));
  const ours = Object.entries(TABLES).find(([, facts]) => facts === table)?.[0];
  return [ours === undefined ? 'src/kube/bootstrap' : `src/kube/bootstrap/data/${ours}.json`];
}

function named(name: string, sources: Sources): string[] {
  const pattern = new RegExp(`(?<![\\w-])${name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`);
  return [...sources]
    .filter(([, text]) => pattern.test(text))
    .map(([path]) => path)
    .slice(0, MANY);
}

/** The kind that holds a type, where one of its group does so alone or has its name; else the folder of the group. */
function typeFiles(type: string, facts: FactSet, paths: UpstreamPaths): string[] {
  const packageName = type.slice(0, type.lastIndexOf('.'));
  const roots = rootsOf(facts.schemas).filter(({ name }) => name.slice(0, name.lastIndexOf('.')) === packageName);
  const holders = roots.filter(({ reached }) => reached.has(type));
  const baseName = type.slice(type.lastIndexOf('.') + 1);
  const [one] = holders.length === 1 ? holders : holders.filter(({ kind }) => baseName.startsWith(kind)).toSorted((x, y) => y.kind.length - x.kind.length);
  const group = roots[0]?.group;
  if (group === undefined) return [];
  const kinds = Object.entries(paths.kinds).filter(([key]) => (key.includes('/') ? key.slice(0, key.indexOf('/')) : '') === group);
  const ours = kinds.find(([key]) => one !== undefined && isPluralOf(key.slice(key.lastIndexOf('/') + 1), one.kind))?.[1].ours;
  return [ours ?? paths.groups[group]?.ours ?? ''].filter(Boolean);
}

const isPluralOf = (plural: string, kind: string): boolean =>
  [`${kind}s`, `${kind}es`, kind, kind.replace(/y$/, 'ies')].some((candidate) => candidate.toLowerCase() === plural);

interface Root {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
  readonly reached: ReadonlySet<string>;
}

const rootsBySchemas = new WeakMap<ReadonlyMap<string, OpenApiSchema>, Root[]>();

/** Every kind but lists, with the types that it holds. */
function rootsOf(schemas: ReadonlyMap<string, OpenApiSchema>): Root[] {
  let roots = rootsBySchemas.get(schemas);
  if (!roots) {
    const kinds = [...schemas].filter(([name, schema]) => schema['x-kubernetes-group-version-kind']?.length === 1 && !name.endsWith('List'));
    roots = kinds.map(([name, schema]) => {
      const { group, kind } = schema['x-kubernetes-group-version-kind']![0]!;
      return { name, kind, group, reached: reachedFrom(name, schemas) };
    });
    rootsBySchemas.set(schemas, roots);
  }
  return roots;
}

function reachedFrom(root: string, schemas: ReadonlyMap<string, OpenApiSchema>): Set<string> {
  const reached = new Set([root]);
  for (const name of reached) {
    for (const property of Object.values(schemas.get(name)?.properties ?? {})) {
      const part = property.items ?? property.additionalProperties ?? property;
      const reference = referenceOf(part);
      if (reference !== undefined) reached.add(reference);
    }
  }
  return reached;
}
