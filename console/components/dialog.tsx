import { CloseIcon } from './icons.tsx';
import { useApp } from '../state/app.ts';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** Above everything else: the browser keeps the focus in it and closes it by Escape. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onClose={onClose}>
      <div class="dialog-head">
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          <CloseIcon />
        </button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

/** What the keys do here and now. */
export function HelpDialog() {
  const app = useApp();
  if (app.dialog.value !== 'help') return null;
  return (
    <Dialog title="Keyboard" onClose={() => (app.dialog.value = undefined)}>
      <dl class="shortcuts">
        {app.keyboard.all().map(({ keys, what }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
