import { EditorView } from '@codemirror/view';

/** The editor in the colours of the page, which reach into its shadow root as custom properties. */
export const EDITOR_THEME = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--ground)', color: 'var(--text)', fontSize: '12.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)' },
  // What is being written has no owner yet.
  '&.writable .cm-owners': { display: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--ground-2)', color: 'var(--text-2)', border: 'none', borderRight: '1px solid var(--line)' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent-ground) 55%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--ground-3)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--accent) 25%, transparent)',
  },
  '.cm-foldGutter .cm-gutterElement': { cursor: 'pointer', padding: '0 4px' },
  '.cm-foldPlaceholder': { background: 'var(--ground-3)', border: 'none', color: 'var(--text-2)', padding: '0 6px' },
  '.cm-owners .cm-gutterElement': {
    width: '118px',
    padding: '0 6px',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
    fontFamily: 'var(--font)',
    fontSize: '11px',
    borderLeft: '3px solid transparent',
  },
  '.cm-owners .cm-gutterElement span': { display: 'block', overflow: 'hidden', textOverflow: 'ellipsis' },
  '.cm-owners .cm-gutterElement.cm-owner-0': { borderLeftColor: 'var(--series-1)' },
  '.cm-owners .cm-gutterElement.cm-owner-1': { borderLeftColor: 'var(--series-3)' },
  '.cm-owners .cm-gutterElement.cm-owner-2': { borderLeftColor: 'var(--series-4)' },
  '.cm-owners .cm-gutterElement.cm-owner-3': { borderLeftColor: 'var(--series-2)' },
  '.cm-tooltip': {
    maxWidth: '460px',
    // Documentation may be longer than the screen: a quantity's is 60 lines.
    maxHeight: '40vh',
    overflowY: 'auto',
    padding: '8px 12px',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    backgroundColor: 'var(--ground)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow)',
    fontFamily: 'var(--font)',
  },
  '.cm-tooltip p': { margin: '4px 0 0', whiteSpace: 'pre-wrap' },
  '.cm-tooltip .type': { color: 'var(--text-2)' },
  '.cm-panels': { backgroundColor: 'var(--ground-2)', color: 'var(--text)', borderBottom: '1px solid var(--line)' },
  '.cm-panel input, .cm-panel button': {
    backgroundColor: 'var(--ground)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: '4px',
    backgroundImage: 'none',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--flash)' },
  '@media (max-width: 800px)': {
    '.cm-owners .cm-gutterElement': { width: '8px', padding: '0', color: 'transparent' },
    '.cm-lineNumbers': { display: 'none !important' },
  },
});
