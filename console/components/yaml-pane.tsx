import { useEffect, useRef } from 'preact/hooks';
import type { LineOwner } from '../editor/owner-gutter.ts';
import type { YamlEditor, YamlEditorOptions } from '../editor/yaml-editor.ts';

interface YamlPaneProps extends YamlEditorOptions {
  /** Changes when the text is another one than the editor has; what is typed is already there. */
  revision: string;
  owners?: readonly (LineOwner | undefined)[];
  /** For who wants to search in it. */
  onReady?: (editor: YamlEditor) => void;
}

/** The editor, which is loaded when it is first shown: it is two thirds of all that the page has. */
export function YamlPane({ text, revision, isReadOnly, owners = [], onReady, ...options }: YamlPaneProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<YamlEditor>(undefined);
  const latest = useRef({ text, isReadOnly, owners, options });
  latest.current = { text, isReadOnly, owners, options };

  useEffect(() => {
    let isGone = false;
    void import('../editor/yaml-editor.ts').then(({ YamlEditor: Editor }) => {
      if (isGone || host.current === null) return;
      const { current } = latest;
      editor.current = new Editor(host.current, {
        text: current.text,
        isReadOnly: current.isReadOnly,
        label: current.options.label,
        onChange: (changed) => latest.current.options.onChange?.(changed),
        onLine: (line) => latest.current.options.onLine?.(line),
        docs: (line) => latest.current.options.docs?.(line) ?? Promise.resolve(undefined),
      });
      editor.current.setOwners(current.owners);
      onReady?.(editor.current);
    });
    return () => {
      isGone = true;
      editor.current?.destroy();
    };
  }, []);
  useEffect(() => editor.current?.setText(text), [revision]);
  useEffect(() => editor.current?.setReadOnly(isReadOnly), [isReadOnly]);
  useEffect(() => editor.current?.setOwners(owners), [owners]);
  return <div class="yaml" ref={host} />;
}
