import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, codeFolding, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { EDITOR_THEME } from './editor-theme.ts';
import { type LineOwner, ownerGutter, setLineOwners } from './owner-gutter.ts';

export interface YamlEditorOptions {
  text: string;
  label: string;
  isReadOnly: boolean;
  onChange?: (text: string) => void;
  /** The line (from 0) that the cursor is on. */
  onLine?: (line: number) => void;
  /** What is told of a line (from 0) under the pointer. */
  docs?: (line: number) => Promise<HTMLElement | undefined>;
}

const HIGHLIGHTING = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--series-3)' },
  { tag: tags.comment, color: 'var(--text-2)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.meta], color: 'var(--text-2)' },
]);

/**
 * CodeMirror, in a shadow root: there it adds its style sheets by `adoptedStyleSheets`, which a strict Content-Security-Policy allows, and not as elements, which
 * it does not.
 */
export class YamlEditor {
  readonly #view: EditorView;
  readonly #mode = new Compartment();

  constructor(host: HTMLElement, options: YamlEditorOptions) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    this.#view = new EditorView({ root, parent: root, state: EditorState.create({ doc: options.text, extensions: this.#extensions(options) }) });
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  /** Replaces what differs, so that the cursor and folds stay where they are. */
  setText(text: string): void {
    const old = this.text;
    if (old === text) return;
    let from = 0;
    while (from < old.length && from < text.length && old[from] === text[from]) from++;
    let end = 0;
    while (end < old.length - from && end < text.length - from && old.at(-1 - end) === text.at(-1 - end)) end++;
    this.#view.dispatch({ changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) } });
  }

  setReadOnly(isReadOnly: boolean): void {
    this.#view.dispatch({ effects: this.#mode.reconfigure(mode(isReadOnly)) });
    if (!isReadOnly) this.#view.focus();
  }

  setOwners(owners: readonly (LineOwner | undefined)[]): void {
    this.#view.dispatch({ effects: setLineOwners.of(owners) });
  }

  search(): void {
    openSearchPanel(this.#view);
  }

  destroy(): void {
    this.#view.destroy();
  }

  #extensions({ isReadOnly, label, onChange, onLine, docs }: YamlEditorOptions): Extension[] {
    return [
      lineNumbers(),
      foldGutter({ openText: '▾', closedText: '▸' }),
      ownerGutter(),
      codeFolding(),
      history(),
      drawSelection(),
      EditorView.lineWrapping,
      indentOnInput(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      highlightSelectionMatches(),
      search({ top: true }),
      yaml(),
      syntaxHighlighting(HIGHLIGHTING),
      EDITOR_THEME,
      keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, indentWithTab]),
      this.#mode.of(mode(isReadOnly)),
      EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange?.(update.state.doc.toString());
        if (update.selectionSet || update.docChanged) onLine?.(update.state.doc.lineAt(update.state.selection.main.head).number - 1);
      }),
      ...(docs === undefined ? [] : [docsTooltip(docs)]),
    ];
  }
}

/** A text that cannot be changed can be gone through by its keys all the same. */
const mode = (isReadOnly: boolean): Extension => [
  EditorState.readOnly.of(isReadOnly),
  EditorView.editorAttributes.of({ class: isReadOnly ? 'read-only' : 'writable' }),
];

const docsTooltip = (docs: (line: number) => Promise<HTMLElement | undefined>): Extension =>
  hoverTooltip(async (view, pos) => {
    const line = view.state.doc.lineAt(pos);
    const dom = await docs(line.number - 1);
    if (dom === undefined) return null;
    const from = line.from + /^[\s-]*/.exec(line.text)![0].length;
    return { pos: Math.min(from, line.to), end: line.to, above: true, create: () => ({ dom }) };
  });
