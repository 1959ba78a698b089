import { useSignal } from '@preact/signals';
import { Logo } from '../components/icons.tsx';
import { useApp } from '../state/app.ts';

/** For those who did not come by the link that `binnacle up` prints. */
export function SignIn() {
  const app = useApp();
  const token = useSignal('');
  const isBusy = useSignal(false);
  const signIn = async (credentials: { token: string } | Record<string, never>): Promise<void> => {
    isBusy.value = true;
    await app.signIn(credentials);
    isBusy.value = false;
  };
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void signIn({ token: token.value.trim() });
        }}
      >
        <h1>
          <Logo /> Binnacle
        </h1>
        {app.signInError.value !== '' && (
          <p class="notice error" role="alert">
            {app.signInError.value}
          </p>
        )}
        <label for="token">Bearer token</label>
        <textarea
          id="token"
          rows={4}
          autocomplete="off"
          spellcheck={false}
          value={token.value}
          onInput={(event) => (token.value = event.currentTarget.value)}
        />
        <p class="muted">
          For example <code>kubectl create token default</code>
        </p>
        <button type="submit" class="primary" disabled={isBusy.value || token.value.trim() === ''}>
          Sign in
        </button>
        <hr />
        <button type="button" disabled={isBusy.value} onClick={() => void signIn({})}>
          Use the client certificate of this browser
        </button>
        <p class="muted">
          <code>binnacle up</code> prints a link that signs you in by itself, once; <code>binnacle console</code> prints another. You see and do what your user
          may see and do.
        </p>
      </form>
    </main>
  );
}
