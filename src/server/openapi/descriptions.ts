import { readFileSync } from 'node:fs';

/** The sentences that `kubectl explain` shows; empty where none is known. */
export interface Descriptions {
  ofType(name: string): string;
  ofField(typeName: string, fieldName: string): string;
}

/** `dist/descriptions.json`, as `scripts/descriptions.mjs` writes it: OpenAPI's name → [of the type, by field]. */
type DescriptionsFile = Record<string, [description: string, fields: Record<string, string>]>;

/**
 * Reads what the build left beside the bundle. Held weakly, so that the texts are in memory only while documents are made from them. From source,
 * where nothing was built, documents have no descriptions.
 */
export function builtDescriptions(url = new URL('./descriptions.json', import.meta.url)): () => Descriptions {
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
    return JSON.parse(readFileSync(url, 'utf8')) as DescriptionsFile;
  } catch {
    return {};
  }
}

export function describedBy(file: DescriptionsFile): Descriptions {
  const entryOf = (name: string): DescriptionsFile[string] | undefined => (Object.hasOwn(file, name) ? file[name] : undefined);
  return {
    ofType: (name) => entryOf(name)?.[0] ?? '',
    ofField(typeName, fieldName) {
      const fields = entryOf(typeName)?.[1];
      return fields !== undefined && Object.hasOwn(fields, fieldName) ? fields[fieldName]! : '';
    },
  };
}
