import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Resource } from '../api/discovery.ts';
import type { FieldDocs, JsonSchema, SchemaDocument } from '../schema/schema.ts';
import { useApp } from '../state/app.ts';
import { fieldPathText, linePaths } from '../yaml/object-text.ts';

interface Loaded {
  document: SchemaDocument;
  root: JsonSchema;
}

interface UseFieldDocs {
  /** Of a line, from 0; nothing while the types are not there yet. */
  docsAt: (line: number) => FieldDocs | undefined;
  tooltipFor: (line: number) => Promise<HTMLElement | undefined>;
}

/** What the server's OpenAPI document says of each line of a text. */
export function useFieldDocs({ group, version, kind }: Pick<Resource, 'group' | 'version' | 'kind'>, text: string): UseFieldDocs {
  const { openApi } = useApp();
  const loaded = useSignal<Loaded | undefined>(undefined);
  const paths = useMemo(() => linePaths(text), [text]);
  const load = async (): Promise<Loaded | undefined> => {
    if (loaded.value === undefined) {
      const document = await openApi.document(group, version);
      const root = document.ofKind(group, version, kind);
      if (root !== undefined) loaded.value = { document, root };
    }
    return loaded.value;
  };
  // The document is large: it is asked for once the object itself is there.
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => undefined), 200);
    return () => clearTimeout(timer);
  }, [group, version, kind]);
  const docsOf = (types: Loaded | undefined, line: number): FieldDocs | undefined => {
    const path = paths[line];
    return path === undefined || types === undefined ? undefined : types.document.docsAt(types.root, path);
  };
  return {
    docsAt: (line) => docsOf(loaded.value, line),
    tooltipFor: async (line) => {
      const docs = docsOf(await load(), line);
      return docs === undefined ? undefined : tooltip(docs);
    },
  };
}

function tooltip({ path, type, description, isRequired }: FieldDocs): HTMLElement {
  const element = document.createElement('div');
  const head = document.createElement('strong');
  head.textContent = fieldPathText(path);
  const kind = document.createElement('span');
  kind.className = 'type';
  kind.textContent = ` ${type}${isRequired ? ', required' : ''}`;
  const text = document.createElement('p');
  text.textContent = description;
  element.append(head, kind, text);
  return element;
}
