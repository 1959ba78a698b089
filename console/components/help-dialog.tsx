import { useApp } from '../state/app.ts';
import { Dialog } from './dialog.tsx';

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
