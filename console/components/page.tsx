import { useApp } from '../state/app.ts';
import { SignIn } from '../views/sign-in.tsx';
import { Shell } from './shell.tsx';

/** The whole page: the shell for those who are signed in, and the way in for others. */
export function Page() {
  const { session } = useApp();
  if (session.value === undefined) return <main class="starting" aria-busy="true" aria-label="Starting" />;
  return session.value === 'none' ? <SignIn /> : <Shell session={session.value} />;
}
