import { useEffect } from 'preact/hooks';
import type { Session } from '../api/session.ts';
import { useApp } from '../state/app.ts';
import { CurrentView } from './current-view.tsx';
import { HelpDialog } from './dialog.tsx';
import { Logo, MenuIcon, MoonIcon, SunIcon } from './icons.tsx';
import { NamespacePicker } from './namespace-picker.tsx';
import { Sidebar } from './sidebar.tsx';
import { globalShortcuts } from './shortcuts.ts';

interface ShellProps {
  session: Session;
}

export function Shell({ session }: ShellProps) {
  const app = useApp();
  useEffect(() => app.keyboard.add(globalShortcuts(app)), [app]);
  return (
    <div class={app.isMenuOpen.value ? 'shell menu-open' : 'shell'}>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <Header session={session} />
      <Sidebar />
      {app.isMenuOpen.value && <button type="button" class="backdrop" aria-label="Close the menu" onClick={() => (app.isMenuOpen.value = false)} />}
      <main id="main" tabIndex={-1}>
        <CurrentView />
      </main>
      <HelpDialog />
    </div>
  );
}

function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Header({ session }: ShellProps) {
  const app = useApp();
  const isDark = app.theme.name.value === 'dark';
  return (
    <header class="topbar">
      <button
        type="button"
        class="quiet menu-button"
        aria-label="Menu"
        aria-expanded={app.isMenuOpen.value}
        onClick={() => (app.isMenuOpen.value = !app.isMenuOpen.value)}
      >
        <MenuIcon />
      </button>
      <a class="brand" href="#/" aria-label="Binnacle: overview">
        <Logo />
        <span>Binnacle</span>
      </a>
      <NamespacePicker />
      <span class="spacer" />
      <span class="server-version" title={`Storage: ${session.server.storage}`}>
        {session.server.version}
      </span>
      <button
        type="button"
        class="quiet"
        aria-label={isDark ? 'Light colours' : 'Dark colours'}
        title={isDark ? 'Light colours' : 'Dark colours'}
        onClick={() => app.theme.toggle()}
      >
        {isDark ? <SunIcon /> : <MoonIcon />}
      </button>
      <button type="button" class="quiet" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick={() => (app.dialog.value = 'help')}>
        <kbd>?</kbd>
      </button>
      <span class="user" title={`Groups: ${(session.user.groups ?? []).join(', ')}`}>
        {session.user.username}
      </span>
      <button type="button" class="quiet" onClick={() => void app.signOut()}>
        Sign out
      </button>
    </header>
  );
}
