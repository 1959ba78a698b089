import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A kind with every field set: as JSON, and as the protobuf bytes that a client sends, in base64. */
export interface WireObject {
  readonly json: unknown;
  readonly protobuf: string;
}

const FOLDER = 'staging/src/k8s.io/api/testdata/HEAD';

/** Upstream's golden objects: `core.v1.Pod` → both forms. */
export function wireObjects(tree: string): Record<string, WireObject> {
  const folder = join(tree, FOLDER);
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.pb'))
    .map((file) => file.slice(0, -'.pb'.length));
  return Object.fromEntries(
    names.toSorted().map((name) => [
      name,
      {
        json: JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as unknown,
        protobuf: readFileSync(join(folder, `${name}.pb`)).toString('base64'),
      },
    ]),
  );
}
