import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

/** The sentences that `kubectl explain` shows; empty where none is known. */
export interface Descriptions {
  ofType(name: string): string;
  ofField(typeName: string, fieldName: string): string;
}

/** What `scripts/descriptions.mjs` writes: every text once, and OpenAPI's name of a type → the text of each field, and its own under ''. */
interface DescriptionsFile {
  texts: readonly string[];
  types: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/**
 * Reads what the build left beside the bundle. Held weakly, so that the texts are in memory only while documents are made from them. From source,
 * where nothing was built, documents have no descriptions.
 */
export function builtDescriptions(url = new URL('./descriptions.json.br', import.meta.url)): () => Descriptions {
  let held: WeakRef<Descriptions> | undefined;
  return () => {
    const known = held?.deref();
    if (known) return known;
    const descriptions = describedBy(readDescriptions(url));
    held = new WeakRef(descriptions);
    return descriptions;
  };
}

function readDescriptions(url: URL): DescriptionsFile {
  try {
    return JSON.parse(brotliDecompressSync(readFileSync(url)).toString()) as DescriptionsFile;
  } catch {
    return { texts: [], types: {} };
  }
}

export function describedBy({ texts, types }: DescriptionsFile): Descriptions {
  const ofField = (typeName: string, fieldName: string): string => {
    const fields = Object.hasOwn(types, typeName) ? types[typeName]! : {};
    return Object.hasOwn(fields, fieldName) ? texts[fields[fieldName]!]! : '';
  };
  return { ofType: (name) => ofField(name, ''), ofField };
}

const ENUM_HEADER = 'Possible enum values:';

/** Without the values that a field may have (apiserver/pkg/util/openapi/enablement.go). */
export function withoutEnums({ ofType, ofField }: Descriptions): Descriptions {
  const prune = (text: string): string => {
    const header = text.indexOf(ENUM_HEADER);
    return header < 0 ? text : text.slice(0, header).trim();
  };
  return { ofType: (name) => prune(ofType(name)), ofField: (typeName, fieldName) => prune(ofField(typeName, fieldName)) };
}
