import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FactFiles, printJson, printLines } from '../print.ts';
import { readUpstreamPaths } from '../upstream-paths.ts';
import { apiLifecycle } from './api-lifecycle.ts';
import { encodingFacts } from './encoding.ts';
import { featureGates, gateHistory, type Gates } from './feature-gates.ts';
import { internalTypes } from './internal-types.ts';
import { documentedMetrics } from './metrics.ts';
import { protobufMessages } from './protobuf-messages.ts';
import { missingFolders, upstreamFiles } from './upstream-files.ts';
import { wireObjects } from './wire.ts';

/**
 * Everything that only sources tell. `served` are the group-versions of discovery; `checkGates` may compare the gates with those of a server. `missing` are
 * folders that facts/upstream-paths.json names and this tree does not have.
 */
export function readTree(tree: string, served: ReadonlySet<string>, checkGates: (gates: Gates) => void): { files: FactFiles; missing: string[] } {
  const gates = featureGates(tree, minorVersionOf(tree));
  checkGates(gates);
  const paths = readUpstreamPaths();
  const files: FactFiles = new Map([
    ['api-lifecycle.json', printLines(apiLifecycle(tree) as Record<string, unknown>)],
    ['encoding.json', printJson(encodingFacts(tree, served), 2)],
    ['feature-gates.json', printLines(gates as Record<string, unknown>)],
    ['feature-gate-history.json', printLines(gateHistory(tree) as Record<string, unknown>)],
    ['internal-types.json', printLines(internalTypes(tree))],
    ['metrics.json', printLines(documentedMetrics(tree))],
    ['protobuf.json', printLines(protobufMessages(tree) as Record<string, unknown>)],
    ['upstream.json', printLines(upstreamFiles(tree, paths))],
    ['wire.json', printLines(wireObjects(tree) as Record<string, unknown>)],
  ]);
  return { files, missing: missingFolders(tree, paths) };
}

/** `1.36`: the version that gates are compared with (component-base/version/base.go). */
export function minorVersionOf(tree: string): string {
  const file = join(tree, 'staging/src/k8s.io/component-base/version/base.go');
  const version = existsSync(file) ? /DefaultKubeBinaryVersion = "(\d+\.\d+)"/.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
  if (version === undefined) throw new Error(`${tree} does not tell its version in ${file}`);
  return version;
}
