import { useSignal } from '@preact/signals';
import { CopyIcon } from './icons.tsx';

interface KubectlLineProps {
  /** One or several, each of which gives what the view shows. */
  command: string;
}

const SHOWN_MS = 1_500;

/** The command that gives the same in a terminal. */
export function KubectlLine({ command }: KubectlLineProps) {
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(command);
    } catch {
      // The browser may forbid it; the text can be selected all the same.
      return;
    }
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), SHOWN_MS);
  };
  return (
    <footer class="kubectl" aria-label="The same with kubectl">
      <span aria-hidden="true">$</span>
      <code tabIndex={0}>{command}</code>
      <button type="button" class="quiet" aria-label="Copy the command" title="Copy the command" onClick={() => void copy()}>
        {isCopied.value ? 'Copied' : <CopyIcon />}
      </button>
    </footer>
  );
}
